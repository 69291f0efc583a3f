import type { ExtractionResult } from '@quire/client';
import { useMemo, useState } from 'react';
import { playground } from '../texts/playground.ts';
import { modeName } from '../texts/shell.ts';
import { Badge } from '../ui/card.tsx';
import { classes } from '../ui/style.ts';
import { valuesBeside, type ValueLine } from './beside.ts';
import { readSchema, valueRows, type ValueRow } from './values.ts';

const { readings: texts, results, run: runTexts } = playground;

/** A reading, and the schema that it was read by. */
export interface ReadBySchema {
  readonly answer: ExtractionResult;
  readonly schema: string;
  /** The config that it was read with; left out: none. */
  readonly config?: string | undefined;
}

const rowsOf = ({ answer, schema }: ReadBySchema): readonly ValueRow[] =>
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
  readonly one: ReadBySchema;
  readonly other: ReadBySchema;
}

/** How a reading was done: by what, and what it took. */
function Head({ reading }: { reading: ReadBySchema }) {
  const { config } = reading;
  const { meta, cost } = reading.answer;
  return (
    <th scope="col" className="px-2 py-1 text-left font-normal">
      <span className="flex flex-wrap items-center gap-1">
        <Badge tone="accent">{modeName(meta.mode)}</Badge>
        <span className="font-medium break-all">{meta.model}</span>
      </span>
      {config !== undefined && <span className="block break-all">{texts.withConfig(config)}</span>}
      <span className="text-[13px] text-soft">{runTexts.cost(cost.credits_used, cost.pages)}</span>
    </th>
  );
}

/** Two readings of a document side by side; what differs is marked. */
export function ReadingTable({ one, other }: TableProps) {
  const [isAll, showAll] = useState(true);
  const lines = useMemo(() => valuesBeside(rowsOf(one), rowsOf(other)), [one, other]);
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
              <Head reading={one} />
              <Head reading={other} />
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
