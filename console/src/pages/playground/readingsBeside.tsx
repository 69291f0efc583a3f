import type { ExtractionResult } from '@quire/client';
import { useMemo, useState } from 'react';
import { useRead } from '../../api/connection.ts';
import { useTenantId } from '../../api/session.ts';
import { playground } from '../../texts/playground.ts';
import { Badge } from '../../ui/card.tsx';
import { Button } from '../../ui/button.tsx';
import { Select } from '../../ui/select.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { classes, CONTROL } from '../../ui/style.ts';
import { Going } from '../../document/conversion.tsx';
import { useReading, VALUES, type AskedValues } from '../../document/reading.ts';
import { valuesBeside, type ValueLine } from './beside.ts';
import { readSchema, valueRows, type ValueRow } from '../../document/values.ts';

const { readings: texts, results, run: runTexts } = playground;

const MODES = (['fast', 'standard', 'robust'] as const).map((value) => ({ value, name: texts.modes[value] }));
type Mode = (typeof MODES)[number]['value'];

const rowsOf = (answer: ExtractionResult, schema: string): readonly ValueRow[] =>
  valueRows(answer.result, readSchema(schema).schema, {
    citations: answer.meta.citations,
    errors: answer.validation_errors,
  });

function Value({ row, differs }: { row: ValueRow | undefined; differs: boolean }) {
  const confidence = row?.citation?.confidence;
  return (
    <td
      data-differs={differs}
      className={classes('px-2 py-1 break-words', differs && 'bg-warn-soft font-medium text-warn')}
    >
      {row?.value ?? <span className="italic">{results.absent}</span>}
      {confidence !== undefined && (
        <span className="text-[13px] text-soft"> {texts.sure(Math.round(confidence * 100))}</span>
      )}
    </td>
  );
}

function Line({ line }: { line: ValueLine }) {
  return (
    <tr className="border-t border-line/60 align-top">
      <th scope="row" className="py-1 pr-3 text-left font-normal break-all text-soft">
        {line.path.slice(1).replaceAll('/', ' ')}
      </th>
      <Value row={line.one} differs={!line.isSame} />
      <Value row={line.other} differs={!line.isSame} />
    </tr>
  );
}

interface TableProps {
  readonly one: ExtractionResult;
  readonly other: ExtractionResult;
  readonly schema: string;
}

/** How a reading was done: by what, and what it took. */
function Head({ answer }: { answer: ExtractionResult }) {
  const { meta, cost } = answer;
  return (
    <th scope="col" className="px-2 py-1 text-left font-normal">
      <span className="flex flex-wrap items-center gap-1">
        <Badge tone="accent">{meta.mode}</Badge>
        <span className="font-medium break-all">{meta.model}</span>
      </span>
      <span className="text-[13px] text-soft">{runTexts.cost(cost.credits_used, cost.pages)}</span>
    </th>
  );
}

function ReadingTable({ one, other, schema }: TableProps) {
  const [isAll, showAll] = useState(true);
  const lines = useMemo(() => valuesBeside(rowsOf(one, schema), rowsOf(other, schema)), [one, other, schema]);
  const different = lines.filter(({ isSame }) => !isSame);
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <p role="status">{texts.differ(different.length, lines.length)}</p>
        <label className="flex items-center gap-2">
          <input type="checkbox" checked={!isAll} onChange={() => showAll(!isAll)} />
          {texts.only}
        </label>
      </div>
      <div tabIndex={0} role="region" aria-label={texts.title} className="max-h-[60vh] min-w-0 overflow-auto">
        <table className="w-full min-w-[28rem] table-fixed border-collapse">
          <thead>
            <tr className="align-top">
              <th scope="col" className="py-1 pr-3 text-left font-medium">
                {texts.value}
              </th>
              <Head answer={one} />
              <Head answer={other} />
            </tr>
          </thead>
          <tbody>
            {(isAll ? lines : different).map((line) => (
              <Line key={line.path} line={line} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

interface ReadingsBesideProps {
  readonly file: File;
  readonly pages: number | undefined;
  /** The schema of the reading that is there. */
  readonly schema: string;
  readonly answer: ExtractionResult;
}

/** What another reading would cost; undefined where that is not known before. */
const useCost = (pages: number | undefined, extraction_mode: Mode): number | undefined => {
  const tenant_id = useTenantId();
  const query = { operation: 'extract', billing_type: 'full_service', tenant_id, extraction_mode } as const;
  const asked = { query: { ...query, pages: pages ?? 1 } };
  return useRead('getQuote', asked, { enabled: pages !== undefined }).data?.credits;
};

/** The same document by the same schema in another mode, or by another model, beside what was read before. */
export function ReadingsBeside({ file, pages, schema, answer }: ReadingsBesideProps) {
  const tenant_id = useTenantId();
  const { reading, step, stop } = useReading(VALUES);
  const [mode, choose] = useState<Mode>('robust');
  const [model, write] = useState('');
  const credits = useCost(pages, mode);
  const asked: AskedValues = { file, schema, pages, tenant_id, mode, ...(model === '' ? {} : { model }) };
  const read = (): void => reading.mutate(asked);
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-end gap-2">
        <span className="w-36">
          <Select
            label={texts.mode}
            choices={MODES}
            value={mode}
            onChange={(next) => choose(MODES.find(({ value }) => value === next)?.value ?? 'robust')}
          />
        </span>
        <input
          aria-label={texts.model}
          placeholder={texts.modelSay}
          value={model}
          onChange={({ target }) => write(target.value.trim())}
          className={`${CONTROL} max-w-64 flex-1 basis-40`}
        />
        <Button isBusy={reading.isPending} onClick={read}>
          {texts.read}
        </Button>
      </div>
      {reading.isPending ? (
        <Going step={step} onStop={stop} />
      ) : (
        <p className="text-[13px] text-soft">{texts.say(credits)}</p>
      )}
      <ProblemNote error={reading.error} onRetry={read} />
      {reading.data !== undefined && <ReadingTable one={answer} other={reading.data} schema={schema} />}
    </div>
  );
}
