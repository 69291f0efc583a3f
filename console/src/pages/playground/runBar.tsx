import type { ExtractionResult, QuoteResponse } from '@quire/client';
import { playground } from '../../texts/playground.ts';
import { Button } from '../../ui/button.tsx';
import { Going } from './reading/going.tsx';
import type { Step } from './reading/ways.ts';

const { run: runTexts } = playground;

interface RunBarProps {
  readonly quote: QuoteResponse | undefined;
  readonly step: Step | undefined;
  readonly isRunning: boolean;
  readonly canRun: boolean;
  readonly answer: ExtractionResult | undefined;
  readonly onRun: () => void;
  readonly onStop: () => void;
}

function Quote({ quote }: { quote: QuoteResponse | undefined }) {
  if (quote === undefined) return <span className="text-soft">{runTexts.unknownPages}</span>;
  return (
    <span className="text-soft">
      {runTexts.quote(quote.credits, quote.pages, quote.free_pages_applied)}
      {!quote.sufficient && <span className="text-bad"> {runTexts.short}</span>}
    </span>
  );
}

/** Runs, with what it costs before and did cost after. */
export function RunBar({ quote, step, isRunning, canRun, answer, onRun, onStop }: RunBarProps) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <Button look="primary" isBusy={isRunning} disabled={!canRun} onClick={onRun}>
        {runTexts.run}
      </Button>
      {isRunning ? <Going step={step} onStop={onStop} /> : <Quote quote={quote} />}
      {answer !== undefined && !isRunning && (
        <span className="text-soft" data-cost={answer.cost.credits_used}>
          {runTexts.cost(answer.cost.credits_used, answer.cost.pages)}
          {answer.cost.balance_remaining !== null && `, ${runTexts.left(answer.cost.balance_remaining)}`}
        </span>
      )}
    </div>
  );
}
