import type { ExtractionResult } from '@quire/client';
import { useMutation } from '@tanstack/react-query';
import { useMemo, type ReactNode } from 'react';
import { playground } from '../../texts/playground.ts';
import type { Tab } from '../../ui/tabs.tsx';
import { Copy } from '../../ui/values.tsx';
import { keepExample, keptExamples } from '../../api/uploads.ts';
import { useTenantId } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { ProblemNote } from '../../ui/states.tsx';
import { saveFile } from '../../ui/csv.ts';
import { ReadingsBeside } from './readingsBeside.tsx';
import { CodeTab, type AskedOptions } from '../../document/requestCode.tsx';
import { corrected, partsOf, type Part, type SchemaPart, type ValueRow } from '../../document/values.ts';
import { filesOf, workbookOf } from '../../document/files.ts';
import { Downloads } from '../../ui/download.tsx';
import { FieldRows } from './fieldRows.tsx';
import { fieldOf } from './fields.ts';
import { ValueGroup, Values, type Choosing } from './valueTree.tsx';
import { BlocksTab, Converted, MarkdownTab, TextTab, type Conversion } from '../../document/conversion.tsx';

const { results: texts } = playground;

/** What was read, and by which schema. */
export interface Read {
  readonly file: File;
  readonly answer: ExtractionResult;
  readonly rows: readonly ValueRow[];
  readonly ran: SchemaPart | undefined;
  readonly choosing: Choosing;
}

function Examples({
  file,
  answer,
  corrections,
  markKept,
}: Pick<Read, 'file' | 'answer'> & Pick<Choosing, 'corrections' | 'markKept'>) {
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

interface FieldsProps {
  /** undefined: what is typed is no schema. */
  readonly schema: SchemaPart | undefined;
  readonly onChange: (schema: SchemaPart) => void;
}

/** What was read, by the field beside which it stands; '' has what belongs to no field. */
const byField = (schema: SchemaPart | undefined, rows: readonly ValueRow[]): ReadonlyMap<string, Part[]> => {
  const found = new Map<string, Part[]>();
  for (const part of partsOf(rows)) {
    const { path } = part.kind === 'row' ? part.row : part.table.row;
    const field = (schema && fieldOf(schema, path)) ?? '';
    const before = found.get(field);
    if (before === undefined) found.set(field, [part]);
    else before.push(part);
  }
  return found;
};

/** The fields of the schema, each beside what was read for it; below, what belongs to none of them. */
export function FieldsAndValues({ schema, onChange, read }: FieldsProps & { read: Read | undefined }) {
  const { rows, ran, choosing } = read ?? {};
  const parts = useMemo(() => byField(schema, rows ?? []), [schema, rows]);
  const beside = (field: string): ReactNode => {
    const found = parts.get(field);
    if (choosing !== undefined && found !== undefined)
      return <Values parts={found} choosing={choosing} field={field} />;
    const isNew = ran === undefined || fieldOf(ran, field) !== field;
    return isNew ? <p className="px-2 py-1 text-soft">{texts.notRead}</p> : <span />;
  };
  const others = parts.get('');
  return (
    <ValueGroup chosen={choosing?.chosen}>
      {schema !== undefined && <FieldRows schema={schema} onChange={onChange} beside={read && beside} />}
      {choosing !== undefined && others !== undefined && (
        <section aria-label={texts.others} className="mt-3">
          <p className="text-[13px] text-soft">{texts.others}</p>
          <Values parts={others} choosing={choosing} />
        </section>
      )}
    </ValueGroup>
  );
}

/** What the service warns of, and what one makes of the values. */
export function BelowValues({ file, answer, choosing }: Read) {
  const { warnings } = answer.meta;
  return (
    <div className="flex flex-col gap-3">
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

interface WaysProps {
  readonly file: File;
  readonly pages: number | undefined;
  /** As it stands now, and as the answer was read by. */
  readonly schema: string;
  readonly ran: string;
  /** How the next run reads. */
  readonly options: AskedOptions;
  readonly answer: ExtractionResult | undefined;
  readonly conversion: Conversion;
}

/** The other ways to look at what was read, and the request as a program sends it. */
export const otherWays = (props: WaysProps): readonly Tab[] => {
  const { file, pages, schema, ran, options, answer, conversion } = props;
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
  const code = <CodeTab name={file.name} schema={schema} options={options} />;
  return [...ways, compared, { id: 'code', name: texts.code, content: code }];
};
