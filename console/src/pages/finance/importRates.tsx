import { isProblem, type FxImportReport } from '@quire/client';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/connection.ts';
import { finance } from '../../texts/finance.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { FileDrop } from '../../ui/fileDrop.tsx';
import { ProblemNote } from '../../ui/states.tsx';

const texts = finance.rates.file;

interface Conflict {
  readonly date: string;
  readonly currency: string;
  readonly known: string | null;
  readonly given: string | null;
}

/** The rates that differ from the known ones, where the file was refused for them. */
const conflictsIn = (error: unknown): readonly Conflict[] => {
  if (!isProblem(error) || error.problem.code !== 'fx_rates_conflict') return [];
  const { conflicts } = error.problem as unknown as { readonly conflicts: readonly Conflict[] };
  return conflicts;
};

function Conflicts({ conflicts }: { conflicts: readonly Conflict[] }) {
  return (
    <ul className="flex flex-col text-[13px]">
      {conflicts.map(({ date, currency, known, given }) => (
        <li key={`${date} ${currency}`}>{texts.conflict(`${date} ${currency}`, known, given)}</li>
      ))}
    </ul>
  );
}

function Report({ report }: { report: FxImportReport }) {
  const { added, unchanged, superseded, first, last } = report;
  return (
    <p role="status" className="rounded-md bg-good-soft p-2 text-good">
      {texts.done({ added, unchanged, superseded })} {first ?? '–'} – {last ?? '–'}
    </p>
  );
}

/** Takes a file of the European Central Bank; where rates differ, it asks first. */
export function ImportRates() {
  const [file, choose] = useState<File>();
  const cache = useQueryClient();
  const send = useMutation({
    mutationFn: ({ taken, supersede }: { readonly taken: File; readonly supersede: boolean }) =>
      api.importFxRates({ body: { file: taken, supersede } }),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['getFxRate'] }),
  });
  const conflicts = conflictsIn(send.error);
  const take = (taken: File): void => {
    choose(taken);
    send.mutate({ taken, supersede: false });
  };
  return (
    <Card title={texts.title}>
      <div className="flex flex-col gap-3">
        <p className="text-soft">{texts.say}</p>
        <FileDrop
          title={send.isPending ? texts.busy : texts.drop}
          say={texts.dropSay}
          choose={texts.choose}
          accept=".xml,.csv,.zip"
          onFile={take}
        />
        {send.data !== undefined && <Report report={send.data} />}
        <ProblemNote error={send.error} />
        {conflicts.length > 0 && file !== undefined && (
          <>
            <Conflicts conflicts={conflicts} />
            <Button
              look="danger"
              className="self-start"
              isBusy={send.isPending}
              onClick={() => send.mutate({ taken: file, supersede: true })}
            >
              {texts.supersede}
            </Button>
          </>
        )}
      </div>
    </Card>
  );
}
