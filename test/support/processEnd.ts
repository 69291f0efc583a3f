/** What the specs of one process share, and how it is closed. */
const shared: { readonly close: () => Promise<void>; readonly drop: () => void }[] = [];

/**
 * Keeps something for all spec files of this process. `close` ends it after the last of them. A worker of a
 * parallel run ends without asking, so `drop` removes, synchronously, what would outlive the process.
 */
export const untilProcessEnds = (close: () => Promise<void>, drop: () => void = () => undefined): void => {
  shared.push({ close, drop });
  process.once('exit', drop);
};

/** Closes all that is shared, latest first. */
export const closeShared = async (): Promise<void> => {
  for (const { close, drop } of shared.splice(0).reverse()) {
    await close();
    process.off('exit', drop);
  }
};
