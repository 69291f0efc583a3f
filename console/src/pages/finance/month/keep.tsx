import { Download } from '../../../ui/icons/icons.tsx';
import { useRead } from '../../../api/hooks.ts';
import { finance as texts } from '../../../texts/finance.ts';
import { Button } from '../../../ui/button.tsx';
import { csvOf, saveFile } from '../../../ui/table/csv.ts';
import type { Period } from '../period.ts';
import { gapOf, stepsOf } from '../margin/steps.ts';

interface SaveProps {
  readonly name: string;
  /** undefined while it is read. */
  readonly csv: string | undefined;
  readonly month: string;
}

function Save({ name, csv, month }: SaveProps) {
  return (
    <Button
      disabled={csv === undefined}
      onClick={() => saveFile(`${name.toLowerCase().replaceAll(' ', '-')}-${month}.csv`, csv ?? '')}
    >
      <Download aria-hidden className="size-4" />
      {name}
    </Button>
  );
}

const csvOfItems = (items: readonly object[] | undefined): string | undefined => {
  if (items === undefined) return undefined;
  const names = Object.keys(items[0] ?? {});
  return csvOf(
    names,
    items.map((item) => names.map((name) => (item as Readonly<Record<string, unknown>>)[name])),
  );
};

/** The month's reports as files. */
export function Keep({ period: { month, first, last } }: { period: Period }) {
  const dates = { from_date: first, to_date: last };
  const { data: margin } = useRead('getMarginReport', { query: { start: first, end: last } });
  const { data: usage } = useRead('getUsageStats', { query: { ...dates, group_by: 'day' } });
  const { data: subsidy } = useRead('getFreeTierSubsidy', { query: dates });
  const figures = margin === undefined ? undefined : [...stepsOf(margin), ...gapOf(margin).slice(0, -1)];
  const marginCsv =
    figures === undefined
      ? undefined
      : csvOf(
          [texts.margin.figure, 'USD'],
          figures.map(({ name, amount }) => [name, amount]),
        );
  return (
    <div className="flex flex-wrap gap-2">
      <Save name={texts.close.saveMargin} csv={marginCsv} month={month} />
      <Save name={texts.close.saveUsage} csv={csvOfItems(usage?.items)} month={month} />
      <Save name={texts.close.saveSubsidy} csv={csvOfItems(subsidy?.items)} month={month} />
    </div>
  );
}
