import type { ExtractionResult } from '@quire/client';
import { useMutation } from '@tanstack/react-query';
import { playground } from '../../texts/playground.ts';
import { Tabs } from '../../ui/tabs.tsx';
import { Copy } from '../../ui/values.tsx';
import { keepExample, keptExamples } from '../../api/uploads.ts';
import { useTenantId } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { saveFile } from '../../ui/csv.ts';
import { ReadingsBeside } from './readingsBeside.tsx';
import { CodeTab, type AskedOptions } from '../../document/requestCode.tsx';
import { corrected, type ValueRow } from '../../document/values.ts';
import { filesOf, workbookOf } from '../../document/files.ts';
import { Downloads } from '../../ui/download.tsx';
import { ValueTree } from './valueTree.tsx';
import { Card } from '../../ui/card.tsx';
import { BlocksTab, Converted, MarkdownTab, TextTab, type Conversion } from '../../document/conversion.tsx';

const { results: texts } = playground;

/** What is chosen, corrected and being corrected; the page's boxes share it. */
export interface Choosing {
  readonly chosen: string | undefined;
  readonly choose: (path: string) => void;
  readonly editing: { readonly path: string; readonly text: string } | undefined;
  readonly edit: (editing: { path: string; text: string } | undefined) => void;
  readonly corrections: ReadonlyMap<string, string>;
  readonly correct: (path: string, text: string) => void;
  /** All corrections are in an example. */
  readonly isKept: boolean;
  readonly markKept: () => void;
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
  markKept,
}: Pick<DataTabProps, 'file' | 'answer'> & Pick<Choosing, 'corrections' | 'markKept'>) {
  const tenantId = useTenantId();
  const adding = useMutation({
    mutationFn: () => keepExample(tenantId, { file, expected: corrected(answer.result, corrections) }),
    onSuccess: markKept,
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
function DataTab({ file, answer, rows, choosing }: DataTabProps) {
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
      <Examples file={file} answer={answer} corrections={choosing.corrections} markKept={choosing.markKept} />
      <Downloads
        files={filesOf(
          { ...answer, result: corrected(answer.result, choosing.corrections) },
          answer.meta.file_name ?? file.name,
          // the service knows nothing of what was corrected here
          choosing.corrections.size === 0 ? workbookOf(answer.meta.extraction_id) : undefined,
        )}
      />
    </div>
  );
}

interface ResultsProps {
  readonly file: File;
  readonly pages: number | undefined;
  /** As it stands now, and as the answer was read by. */
  readonly schema: string;
  readonly ran: string;
  /** How the next run reads. */
  readonly options: AskedOptions;
  readonly answer: ExtractionResult | undefined;
  readonly rows: readonly ValueRow[];
  readonly choosing: Choosing;
  readonly conversion: Conversion;
}

/** What was read, in all the ways to look at it, and the request as a program sends it. */
export function Results(props: ResultsProps) {
  const { file, pages, schema, ran, options, answer, rows, choosing, conversion } = props;
  const data =
    answer === undefined ? (
      <p className="text-soft">{playground.run.first}</p>
    ) : (
      <DataTab file={file} answer={answer} rows={rows} choosing={choosing} />
    );
  const converted = { markdown: MarkdownTab, text: TextTab, blocks: BlocksTab };
  const ways = (['markdown', 'text', 'blocks'] as const).map((id) => {
    const Way = converted[id];
    const content = <Converted conversion={conversion}>{(one) => <Way result={one} />}</Converted>;
    return { id, name: texts[id], content };
  });
  const compared = {
    id: 'compare',
    name: playground.readings.tab,
    content:
      answer === undefined ? (
        <p className="text-soft">{playground.run.first}</p>
      ) : (
        <ReadingsBeside file={file} pages={pages} schema={ran} answer={answer} />
      ),
  };
  return (
    <Card>
      <Tabs
        label={texts.label}
        tabs={[
          { id: 'data', name: texts.data, content: data },
          ...ways,
          compared,
          {
            id: 'code',
            name: texts.code,
            content: <CodeTab name={file.name} schema={schema} options={options} />,
          },
        ]}
      />
    </Card>
  );
}
