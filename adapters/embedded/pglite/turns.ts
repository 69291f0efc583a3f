/** Runs work one after another, in the order of the calls. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>;

export const oneAtATime = (): Turns => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
};
