const CHANNEL = 'quire.signed-in';

/** Tells every window of the console in this browser that somebody signed in. */
export const tellSignedIn = (): void => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.postMessage('');
  channel.close();
};

/** Calls a function whenever somebody signed in, in whichever window. */
export const onSignedIn = (listener: () => void): (() => void) => {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = listener;
  return () => channel.close();
};
