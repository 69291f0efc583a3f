import { playground } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { ProgressBar } from '../../../ui/progressBar.tsx';
import type { Step } from './ways.ts';

const { run: runTexts } = playground;

/** How far work is, with the button that stops it. */
export function Going({ step, onStop }: { step: Step | undefined; onStop: () => void }) {
  const { kind, done, total } = step ?? { kind: 'reading', done: 0, total: 0 };
  const name = runTexts[kind];
  const far = kind === 'sending' ? runTexts.bytesSent : runTexts.pagesDone;
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button onClick={onStop}>{runTexts.stop}</Button>
      <span className="flex items-center gap-2" role="status">
        <ProgressBar label={name} {...(total > 0 ? { value: done, max: total } : {})} />
        <span className="text-soft">{total > 0 ? far(done, total) : name}</span>
      </span>
    </div>
  );
}
