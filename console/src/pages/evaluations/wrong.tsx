import type { Api } from '@quire/client';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useRead } from '../../api/connection.ts';
import { connection } from '../../api/send.ts';
import { DocumentView } from '../../document/documentView.tsx';
import type { Box } from '../../document/overlay.tsx';
import type { ValueRow } from '../../document/values.ts';
import { evaluations } from '../../texts/evaluations.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { fieldName } from '../../ui/gate.tsx';
import { ProblemNote, Skeleton } from '../../ui/states.tsx';
import { classes } from '../../ui/style.ts';

type RunDocument = Awaited<ReturnType<Api['getEvaluationRunDocument']>>;
type Wrong = NonNullable<RunDocument['wrong']>[number];

const { runs: texts } = evaluations;

/** JSON as people read it; a text that was cut is shown as it is. */
const plain = (json: string): string => {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'string' ? value : json;
  } catch {
    return json;
  }
};

/** What of a document is looked for: as it reads there, or what should be read. */
const wordsOf = ({ text, expected }: Wrong): string => {
  if (text !== null && text !== '') return text;
  return expected === null ? '' : plain(expected);
};

/** Several values may be missing at one path: the place in the list parts them. */
const nameOf = (wrong: Wrong, at: number): string => `${wrong.at ?? wrong.path} ${String(at)}`;

const rowOf = (wrong: Wrong, at: number): ValueRow => ({
  path: nameOf(wrong, at),
  name: fieldName(wrong.path),
  depth: 0,
  errors: [],
  value: wrong.got === null ? null : plain(wrong.got),
  citation: {
    path: wrong.path,
    text: wordsOf(wrong),
    page: wrong.page ?? 1,
    bbox: null,
    confidence: wrong.confidence ?? 0,
  },
});

const isBox = (bbox: readonly number[] | null): bbox is Box => bbox?.length === 4;

const markOf = ({ page, bbox, ...wrong }: Wrong, at: number) =>
  page === null || !isBox(bbox)
    ? []
    : [{ path: nameOf({ ...wrong, page, bbox: [...bbox] }, at), page, box: bbox }];

interface ItemProps {
  readonly wrong: Wrong;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

/** What should be read, and what was. */
function Item({ wrong: { path, at, expected, got, page, confidence }, isChosen, onChoose }: ItemProps) {
  const said = [
    ...(page === null ? [] : [texts.onPage(page)]),
    ...(confidence === null ? [] : [texts.sureOf(confidence)]),
  ];
  return (
    <li>
      <button
        type="button"
        data-wrong={at ?? path}
        aria-pressed={isChosen}
        onClick={onChoose}
        className={classes(
          'flex w-full flex-col gap-0.5 rounded-md border px-2 py-1.5 text-left hover:bg-sunken',
          isChosen ? 'border-accent bg-accent-soft' : 'border-transparent',
        )}
      >
        <span className="flex w-full flex-wrap justify-between gap-x-2 text-[13px] text-soft">
          <span className="font-medium text-ink">{fieldName(at ?? path)}</span>
          <span>{said.join(' · ')}</span>
        </span>
        <span className="grid w-full grid-cols-[5rem_1fr] gap-x-2">
          <span className="text-[13px] text-soft">{texts.expected}</span>
          <span className="min-w-0 break-words text-good">
            {expected === null ? texts.nothing : plain(expected)}
          </span>
          <span className="text-[13px] text-soft">{texts.got}</span>
          <span className="min-w-0 break-words text-bad">{got === null ? texts.nothing : plain(got)}</span>
        </span>
      </button>
    </li>
  );
}

const fileOf = async ({ run_id, document_id, file_name, mime_type }: RunDocument): Promise<File | null> => {
  const path = `/v1/evaluations/runs/${run_id}/documents/${document_id}/file`;
  const response = await connection.fetch(`${connection.url}${path}`);
  if (response.status === 404) return null;
  if (!response.ok) throw new Error(texts.noFile);
  return new File([await response.blob()], file_name ?? document_id, { type: mime_type ?? '' });
};

/** The document beside what was wrong in it: a click on one goes to its place. */
function Beside({ of, file, wrong }: { of: RunDocument; file: File | null; wrong: readonly Wrong[] }) {
  const [chosen, choose] = useState<string | undefined>(() => wrong.map(nameOf)[0]);
  const document = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => wrong.map(rowOf), [wrong]);
  const marks = useMemo(() => wrong.flatMap(markOf), [wrong]);
  return (
    <div className="grid items-start gap-4 lg:grid-cols-[3fr_2fr]">
      {file === null ? (
        <p className="text-soft">{texts.noFile}</p>
      ) : (
        <div ref={document} className="min-w-0 scroll-mt-16">
          <DocumentView file={file} rows={rows} marks={marks} chosen={chosen} onChoose={choose} />
        </div>
      )}
      <section aria-label={texts.wrongIn} className="min-w-0">
        <h3 className="mb-1 font-medium">{texts.wrongIn}</h3>
        {wrong.length === 0 && <p className="text-soft">{of.wrong === null ? texts.erased : texts.right}</p>}
        <ul className="flex max-h-[70vh] flex-col gap-0.5 overflow-auto empty:hidden">
          {wrong.map((one, at) => (
            <Item
              key={nameOf(one, at)}
              wrong={one}
              isChosen={nameOf(one, at) === chosen}
              onChoose={() => {
                choose(nameOf(one, at));
                // in a narrow window the document stands above the list
                document.current?.scrollIntoView({ block: 'nearest' });
              }}
            />
          ))}
        </ul>
      </section>
    </div>
  );
}

interface WrongDocumentProps extends Pick<RunDocument, 'run_id' | 'document_id'> {
  readonly onClose: () => void;
}

/** A document of a run, and each value that differs from what should be read. */
export function WrongDocument({ run_id, document_id, onClose }: WrongDocumentProps) {
  const { data, error, refetch } = useRead('getEvaluationRunDocument', { path: { run_id, document_id } });
  const file = useQuery({
    queryKey: ['evaluationFile', run_id, document_id],
    enabled: data !== undefined,
    staleTime: Infinity,
    queryFn: () => (data === undefined ? null : fileOf(data)),
  });
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => place.current?.scrollIntoView({ block: 'start' }), []);
  return (
    <div ref={place} className="scroll-mt-16">
      <Card
        title={data?.file_name ?? texts.document}
        actions={<Button onClick={onClose}>{texts.close}</Button>}
      >
        <ProblemNote error={error ?? file.error} onRetry={() => void refetch()} />
        {(data === undefined || file.data === undefined) && <Skeleton lines={6} />}
        {data !== undefined && file.data !== undefined && (
          <Beside of={data} file={file.data} wrong={data.wrong ?? []} />
        )}
      </Card>
    </div>
  );
}
