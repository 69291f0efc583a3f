import type { ExtractionResult } from '@quire/client';
import { useMutation } from '@tanstack/react-query';
import { keepExample, keptExamples } from '../../../api/keptExamples.ts';
import { useTenantId } from '../../../api/useSession.ts';
import { playground } from '../../../texts/playground.ts';
import { Button } from '../../../ui/button.tsx';
import { ProblemNote } from '../../../ui/problemNote.tsx';
import { saveFile } from '../../../ui/table/csv.ts';
import { Copy } from '../../../ui/values/copy.tsx';
import { corrected, type ValueRow } from '../values.ts';
import { ValueTree } from './values/valueTree.tsx';

const { results: texts } = playground;

/** What is chosen, corrected and being corrected; the page's boxes share it. */
export interface Choosing {
  readonly chosen: string | undefined;
  readonly choose: (path: string) => void;
  readonly editing: { readonly path: string; readonly text: string } | undefined;
  readonly edit: (editing: { path: string; text: string } | undefined) => void;
  readonly corrections: ReadonlyMap<string, string>;
  readonly correct: (path: string, text: string) => void;
}

interface DataTabProps {
  readonly file: File;
  readonly answer: ExtractionResult;
  readonly rows: readonly ValueRow[];
  readonly choosing: Choosing;
}

function Examples({
  file,
  answer,
  corrections,
}: Pick<DataTabProps, 'file' | 'answer'> & Pick<Choosing, 'corrections'>) {
  const tenantId = useTenantId();
  const adding = useMutation({
    mutationFn: () => keepExample(tenantId, { file, expected: corrected(answer.result, corrections) }),
  });
  const kept = adding.data ?? keptExamples(tenantId);
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button size="small" isBusy={adding.isPending} onClick={() => adding.mutate()}>
        {texts.addExample}
      </Button>
      {kept.length > 0 && (
        <Button
          size="small"
          onClick={() => saveFile('examples.json', JSON.stringify(kept, undefined, 2), 'application/json')}
        >
          {texts.download(kept.length)}
        </Button>
      )}
      <Copy
        name={texts.copyJson}
        text={JSON.stringify(corrected(answer.result, corrections), undefined, 2)}
      />
      <span role="status" className="text-[13px] text-soft">
        {adding.isSuccess ? texts.added : ''}
      </span>
      <ProblemNote error={adding.error} onRetry={() => adding.mutate()} />
    </div>
  );
}

/** The values, what the service warns of, and what one makes of them. */
export function DataTab({ file, answer, rows, choosing }: DataTabProps) {
  const { warnings } = answer.meta;
  return (
    <div className="flex flex-col gap-3">
      <ValueTree
        rows={rows}
        chosen={choosing.chosen}
        onChoose={choosing.choose}
        corrections={choosing.corrections}
        editing={choosing.editing}
        onEdit={choosing.edit}
        onCorrect={choosing.correct}
      />
      {warnings.length > 0 && (
        <div className="rounded-md bg-warn-soft p-3 text-warn">
          <p className="font-medium">{texts.warnings}</p>
          <ul className="list-disc pl-5">
            {warnings.map(({ message, path }, at) => (
              <li key={at}>
                {path !== undefined && <code>{path} </code>}
                {message}
              </li>
            ))}
          </ul>
        </div>
      )}
      <Examples file={file} answer={answer} corrections={choosing.corrections} />
    </div>
  );
}
