import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    globalSetup: ["test/support/build.ts"],
    // Some search for many seconds, and a machine whose cores are shared may stand still for a minute.
    testTimeout: 180_000,
    pool: "forks",
    // All cores: by default vitest leaves one to itself, which of two is half.
    maxWorkers: availableParallelism(),
  },
});
