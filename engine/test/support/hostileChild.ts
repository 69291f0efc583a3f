import process from 'node:process';
import { received } from '../../isolation/children/fileBytes.ts';
import type { Job, SentFile } from '../../isolation/children/jobs.ts';

/*
 * A child that does what a hostile file would make a parser do, by the name of the file: `endless`,
 * `memory`, `exit`, `throw`, `busy 50` (ms of CPU time), `hurried` (works until it is told to hurry, and
 * answers); any other name is answered.
 */
const hoard: Buffer[] = [];
const send = (message: unknown): void => {
  process.send?.(message);
};

/** Uses CPU time before it answers. */
function beBusy(ms: number): void {
  const before = process.cpuUsage();
  const usedMs = (): number => {
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  };
  while (usedMs() < ms) for (let n = 0; n < 10_000; n += 1) Math.sqrt(n);
}

let isHurried = false;

/** Works, and hears what it is told. */
function workUntilHurried(): void {
  if (isHurried) work('good');
  else {
    beBusy(5);
    setImmediate(workUntilHurried);
  }
}

function work(name: string | null): void {
  if (name?.startsWith('busy ') === true) beBusy(Number(name.slice('busy '.length)));
  switch (name) {
    case 'endless':
      for (;;) Math.sqrt(2);
    case 'memory':
      for (;;) hoard.push(Buffer.alloc(16 * 1024 * 1024, 1));
    case 'exit':
      process.exit(3);
      break;
    case 'throw':
      send({ kind: 'failed', message: 'our own defect' });
      break;
    case 'hurried':
      workUntilHurried();
      break;
    default:
      send({ kind: 'answer', answer: { kind: 'ok', mimeType: 'text/plain', pages: process.pid } });
  }
}

process.on('disconnect', () => process.exit(0));
process.on('message', (sent) => {
  if ((sent as { readonly kind: string }).kind === 'hurry') {
    isHurried = true;
    return;
  }
  isHurried = false;
  const job = received(sent as Job<SentFile>);
  work('file' in job ? job.file.fileName : null);
});
send({ kind: 'ready' });
