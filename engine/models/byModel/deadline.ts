/** Time that is left of a request's deadline. */
export interface Deadline {
  /** Milliseconds; never below 1. */
  readonly leftMs: () => number;
  readonly isOver: () => boolean;
}

export const deadlineIn = (ms: number): Deadline => {
  const endsAt = performance.now() + ms;
  const left = () => endsAt - performance.now();
  return { leftMs: () => Math.max(1, Math.round(left())), isOver: () => left() <= 0 };
};
