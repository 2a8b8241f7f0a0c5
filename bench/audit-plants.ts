/** Recall of the audit on planted defects: `npm run bench:plants [-- PATTERN…]`. */
import { HOSTS } from "../test/support/plant-hosts.ts";
import { readPlants, tryPlants } from "../test/support/plants.ts";

const wanted = new Set(process.argv.slice(2).map(Number));
const plants = readPlants().filter(({ pattern }) => wanted.size === 0 || wanted.has(pattern));
const outcomes = tryPlants(plants);
const missed = outcomes.filter(({ found }) => !found);
for (const plant of plants) {
  const here = missed.filter((one) => one.plant === plant).map(({ host }) => host);
  if (here.length > 0) console.log(`missed ${plant.pattern} "${plant.what}" in ${here.join(", ")}`);
}
for (const plant of plants) {
  const places = outcomes.filter((one) => one.plant === plant).length;
  if (places === 0) console.log(`nowhere to plant ${plant.pattern} "${plant.what}"`);
}
const patterns = [...new Set(plants.map(({ pattern }) => pattern))];
const whole = patterns.filter((pattern) => !missed.some(({ plant }) => plant.pattern === pattern));
const percent = (part: number, all: number): string => `${((100 * part) / all).toFixed(1)} %`;
console.log(
  `${plants.length} plants of ${patterns.length} patterns in ${HOSTS.length} scripts: ` +
    `${outcomes.length - missed.length} of ${outcomes.length} found (${percent(outcomes.length - missed.length, outcomes.length)}), ` +
    `${whole.length} patterns without a miss (${percent(whole.length, patterns.length)})`,
);
