import { faultOf } from '../../api/faults.ts';
import { Verifier, type Asked, type Told } from './verifier.ts';

/** Often enough for a figure that counts; each message copies the breaks. */
const TELL_MS = 100;

let verifier: Verifier | undefined;
let running: AbortController | undefined;
let told: ReturnType<typeof setTimeout> | undefined;

const tell = (): void => {
  told = undefined;
  if (verifier === undefined) return;
  const { error, ...verified } = verifier.now();
  const fault = error === null ? undefined : faultOf(error);
  globalThis.postMessage({ verified, fault } satisfies Told);
};

const go = async ({ scope }: Asked): Promise<void> => {
  if (verifier === undefined) {
    verifier = new Verifier(scope);
    verifier.subscribe(() => (told ??= setTimeout(tell, TELL_MS)));
  }
  running?.abort();
  running = new AbortController();
  await verifier.go(running.signal);
};

globalThis.addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  void go(data);
});
