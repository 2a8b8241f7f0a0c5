/** Names of files, with forward slashes: a browser has no path module. */
export const folderOf = (name: string): string => name.slice(0, Math.max(0, name.lastIndexOf("/") + 1));

/** A path as written in a file of `folder`; absolute ones stay. */
export function joinPath(folder: string, path: string): string {
  const whole = path.startsWith("/") ? path : folder + path;
  const rooted = whole.startsWith("/");
  const parts: string[] = [];
  for (const part of whole.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else parts.push(part);
  }
  return (rooted ? "/" : "") + parts.join("/");
}
