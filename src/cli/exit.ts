/** 0: fine. 1: findings, does not fit, verdict failed. 2: the command could not do its work. */
export type ExitCode = 0 | 1 | 2;
