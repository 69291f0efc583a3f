const listeners = new Set<() => void>();

/** Calls a function whenever an answer says that the session is over. */
export const onSessionOver = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** Tells that an answer said so. */
export const tellSessionOver = (): void => {
  for (const tell of listeners) tell();
};
