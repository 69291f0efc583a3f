/** How a command ends. */
export const EXIT = { done: 0, failed: 1, wrongUsage: 2, stopped: 130 } as const;

/** What each exit code means, in all commands and in those that say more by it. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, 'done; `audit` and `doctor`: nothing is wrong, or there are only warnings'],
  [EXIT.failed, 'it failed, for some of several documents too; `audit` and `doctor`: something is wrong'],
  [EXIT.wrongUsage, 'wrong usage, and nothing was done; `audit`: it could not be made'],
  [EXIT.stopped, 'stopped by Ctrl-C or SIGTERM'],
];
