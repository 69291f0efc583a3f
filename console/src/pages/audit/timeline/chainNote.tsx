import { LoaderCircle, ShieldAlert, ShieldCheck } from '../../../ui/icons/icons.tsx';
import { audit } from '../../../texts/audit.ts';
import { Button } from '../../../ui/button.tsx';
import { classes } from '../../../ui/classes.ts';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import type { Break, Verified } from '../verification/verifier.ts';

const texts = audit.chain;

const count = (value: number): string => value.toLocaleString('en');

/** The break that the log has first. */
const firstOf = (breaks: Verified['breaks']): Break | undefined =>
  [...breaks.values()].sort((a, b) => (BigInt(a.position) < BigInt(b.position) ? -1 : 1))[0];

const headOf = ({ state, checked, verified, breaks }: Verified): string => {
  if (breaks.size > 0) return texts.broken(count(verified), count(checked));
  if (state === 'running') return texts.running(count(checked));
  if (state === 'failed') return texts.failed;
  if (state === 'paused') return texts.paused(count(verified));
  return checked === 0 ? texts.none : texts.done(count(verified), count(checked));
};

function First({ first, more, onShow }: { first: Break; more: number; onShow: (first: Break) => void }) {
  return (
    <p className="flex flex-wrap items-center gap-2 text-[13px]">
      <span className="min-w-0 break-all">
        {texts.first(first.stream, first.revision)}. {audit.flaws[first.flaw]}
        {more > 0 && ` ${texts.more(more)}`}
      </span>
      <Button size="small" onClick={() => onShow(first)}>
        {texts.show}
      </Button>
    </p>
  );
}

type Mood = 'bad' | 'good' | 'plain';

const moodOf = ({ state, breaks }: Verified): Mood => {
  if (breaks.size > 0) return 'bad';
  return state === 'done' ? 'good' : 'plain';
};

const FRAMES: Readonly<Record<Mood, string>> = {
  bad: 'border-bad/40 bg-bad-soft',
  good: 'border-good/30 bg-good-soft',
  plain: 'border-line bg-surface',
};

function Sign({ mood, isRunning }: { mood: Mood; isRunning: boolean }) {
  const size = 'mt-0.5 size-5 shrink-0';
  if (mood === 'bad') return <ShieldAlert aria-hidden className={classes(size, 'text-bad')} />;
  if (isRunning) return <LoaderCircle aria-hidden className={classes(size, 'animate-spin text-soft')} />;
  return <ShieldCheck aria-hidden className={classes(size, mood === 'good' ? 'text-good' : 'text-soft')} />;
}

interface ChainNoteProps {
  readonly verified: Verified;
  readonly onGoOn: () => void;
  readonly onShow: (first: Break) => void;
}

/** What the browser's own computation says of all events that are asked for. */
export function ChainNote({ verified, onGoOn, onShow }: ChainNoteProps) {
  const { state, breaks, error } = verified;
  const first = firstOf(breaks);
  const mood = moodOf(verified);
  return (
    <div
      role="status"
      aria-label={texts.title}
      data-state={state}
      className={classes('flex items-start gap-3 rounded-lg border p-3', FRAMES[mood])}
    >
      <Sign mood={mood} isRunning={state === 'running'} />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="font-medium">{headOf(verified)}</p>
        {mood === 'good' && <p className="text-[13px] text-soft">{texts.whole}</p>}
        {first !== undefined && <First first={first} more={breaks.size - 1} onShow={onShow} />}
        <ProblemNote error={error} onRetry={onGoOn} />
      </div>
      {state === 'paused' && (
        <Button size="small" onClick={onGoOn}>
          {texts.goOn}
        </Button>
      )}
    </div>
  );
}
