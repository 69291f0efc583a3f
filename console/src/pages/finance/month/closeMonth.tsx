import { CircleAlert, CircleCheck, CircleDashed, CircleHelp } from '../../../ui/icons/icons.tsx';
import { finance as texts } from '../../../texts/finance.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { Go } from '../../../ui/go.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import type { Period } from '../period.ts';
import { Keep } from './keep.tsx';
import { useSteps, type Standing, type Step } from './useSteps.ts';

const ICONS = { good: CircleCheck, bad: CircleAlert, unknown: CircleHelp, waits: CircleDashed } as const;
const COLOURS: Readonly<Record<Standing, string>> = {
  good: 'text-good',
  bad: 'text-bad',
  unknown: 'text-soft',
  waits: 'text-soft',
};
const TONES = { good: 'good', bad: 'bad', unknown: 'neutral', waits: 'neutral' } as const;

function StepLine({ step, number }: { step: Step; number: number }) {
  const Icon = ICONS[step.standing];
  return (
    <li className="flex gap-3 border-t border-line p-3 first:border-t-0">
      <Icon aria-hidden className={`mt-0.5 size-5 shrink-0 ${COLOURS[step.standing]}`} />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        <p className="flex flex-wrap items-center gap-2 font-medium">
          {`${String(number)}. ${texts.close.steps[step.id]}`}
          <Badge tone={TONES[step.standing]}>{texts.close.states[step.standing]}</Badge>
        </p>
        <p className="break-words text-soft">{step.say}</p>
        <ProblemNote error={step.error} onRetry={step.retry} />
      </div>
      {step.to !== undefined && (
        <Button asChild size="small" className="self-center">
          <Go to={step.to}>{texts.close.go}</Go>
        </Button>
      )}
    </li>
  );
}

/** What is to be in order before a month is closed, as the books stand now. */
export function CloseMonth({ period, now }: { period: Period; now: number }) {
  const steps = useSteps(period, now);
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <p className="text-soft">{texts.close.say}</p>
      <ol className="rounded-lg border border-line bg-surface">
        {steps.map((step, index) => (
          <StepLine key={step.id} step={step} number={index + 1} />
        ))}
      </ol>
      <Keep period={period} />
    </div>
  );
}
