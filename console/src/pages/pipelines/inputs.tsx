import { useId } from 'react';
import { pipelines } from '../../texts/pipelines.ts';
import { JsonEditor } from '../../ui/editor/jsonEditor.tsx';
import { CONTROL } from '../../ui/form/control.ts';

const startTexts = pipelines.start;

interface JsonInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
  readonly error: string | undefined;
}

/** JSON with its label and what is wrong with it. */
export function JsonInput({ label, value, onChange, error }: JsonInputProps) {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <span className="font-medium">{label}</span>
      <JsonEditor label={label} value={value} onChange={onChange} height="200px" />
      {error !== undefined && (
        <p role="alert" className="text-[13px] text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

interface ExamplesInputProps extends Omit<JsonInputProps, 'label'> {
  readonly count: number;
}

/** Examples, typed or from a file. Lines of JSON are no JSON as a whole, so no editor marks faults in it. */
export function ExamplesInput({ value, onChange, error, count }: ExamplesInputProps) {
  const id = useId();
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <label htmlFor={`${id}-text`} className="font-medium">
        {startTexts.examples}
      </label>
      <textarea
        id={`${id}-text`}
        value={value}
        placeholder={startTexts.examplesLike}
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
        {startTexts.count(count)}. {startTexts.examplesSay}
      </p>
      <label htmlFor={id} className="text-[13px] font-medium">
        {startTexts.file}
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
