import type { Api } from '@quire/client';
import { useId } from 'react';
import { pipelines } from '../texts/pipelines.ts';
import { CONTROL } from './style.ts';

type Example = NonNullable<NonNullable<Parameters<Api['createTrainingJob']>[0]>['body']['examples']>[number];

const { start: texts } = pipelines;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** JSON of an object; undefined where the text is none. */
export const parsedObject = (text: string): object | undefined => {
  const value = jsonOf(text);
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
};

const isExample = (value: unknown): value is Example => {
  if (typeof value !== 'object' || value === null || !('expected' in value)) return false;
  return 'document_id' in value || 'file_uri' in value;
};

/** Examples, one in each line. */
export const linesOf = (examples: readonly object[]): string =>
  examples.map((example) => JSON.stringify(example)).join('\n');

/** Examples as a JSON array or one in each line; undefined where any of it is no example. */
export const examplesOf = (text: string): readonly Example[] | undefined => {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const whole = jsonOf(text);
  const values: unknown[] = Array.isArray(whole) ? whole : lines.map(jsonOf);
  return values.every(isExample) ? values : undefined;
};

interface ExamplesInputProps {
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error: string | undefined;
  readonly count: number;
  /** What else is to be known. */
  readonly say: string;
}

/** Examples, typed or from a file. Lines of JSON are no JSON as a whole, so no editor marks faults in it. */
export function ExamplesInput({ value, onChange, error, count, say }: ExamplesInputProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={`${id}-text`} className="font-medium">
        {texts.examples}
      </label>
      <textarea
        id={`${id}-text`}
        value={value}
        placeholder={texts.examplesLike}
        spellCheck={false}
        aria-invalid={error !== undefined}
        onChange={({ target }) => onChange(target.value)}
        className={`${CONTROL} h-50! py-1.5 font-mono text-[13px]`}
      />
      {error !== undefined && (
        <p role="alert" className="text-[13px] text-bad">
          {error}
        </p>
      )}
      <p className="text-[13px] text-soft">
        {texts.count(count)}. {say}
      </p>
      <label htmlFor={id} className="text-[13px] font-medium">
        {texts.file}
      </label>
      <input
        id={id}
        type="file"
        accept=".json,.ndjson,.jsonl,application/json"
        className="max-w-full text-[13px] file:mr-2 file:rounded-md file:border file:border-line file:px-2 file:py-1"
        onChange={({ target }) => {
          void target.files?.[0]?.text().then(onChange);
        }}
      />
    </div>
  );
}
