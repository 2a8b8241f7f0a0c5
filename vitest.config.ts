import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    testTimeout: 60_000,
    pool: "forks",
    // All cores: by default vitest leaves one to itself, which of two is half.
    maxWorkers: availableParallelism(),
  },
});
