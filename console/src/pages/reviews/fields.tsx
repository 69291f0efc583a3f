import { useEffect, useRef } from 'react';
import type { ValueRow } from '../../document/values.ts';
import { reviews as texts } from '../../texts/reviews.ts';
import { Badge, type Tone } from '../../ui/card.tsx';
import { classes, CONTROL } from '../../ui/style.ts';

/** How a value stands, in a word. */
export interface Mark {
  readonly tone: Tone;
  readonly text: string;
}

export interface FieldProps {
  readonly row: ValueRow;
  readonly isChosen: boolean;
  /** undefined: as it was read, and nobody doubts it. */
  readonly mark: Mark | undefined;
  /** It has to be looked at. */
  readonly isDoubtful: boolean;
  /** A name of several values that can be chosen, as they are in doubt together. */
  readonly isWhole: boolean;
  /** 0 to 1; undefined: no machine read it. */
  readonly confidence: number | undefined;
  /** What follows for the answer; undefined: nothing. */
  readonly note: string | undefined;
  /** What is being typed; undefined: nothing. */
  readonly typed: string | undefined;
  /** Changes with each choice: the focus comes back then, wherever it went. */
  readonly turn: number;
  readonly onType: (text: string) => void;
  readonly onChoose: () => void;
}

/** A value with its name. Of one that is not there a mark says why. */
function Said({ row: { name, value }, mark }: Pick<FieldProps, 'row' | 'mark'>) {
  const shown = name.replaceAll('_', ' ');
  if (value === undefined) return <span className="min-w-0 flex-1 font-medium break-words">{shown}</span>;
  return (
    <>
      <span className="w-2/5 min-w-0 shrink-0 text-[13px] break-words text-soft">{shown}</span>
      <span className="min-w-0 flex-1 break-words">
        {value ?? <i className="text-soft">{mark === undefined ? texts.nothing : '—'}</i>}
      </span>
    </>
  );
}

/** A value as it stands, with its name; or the name of several that are in doubt together. */
function Standing({ row, isChosen, mark, isDoubtful, confidence, turn, onChoose }: FieldProps) {
  const { path } = row;
  const place = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isChosen) place.current?.focus();
  }, [isChosen, turn]);
  return (
    <button
      ref={place}
      type="button"
      data-field={path}
      data-doubtful={isDoubtful ? '' : undefined}
      aria-pressed={isChosen}
      tabIndex={isChosen ? 0 : -1}
      onClick={onChoose}
      className={classes(
        'flex min-h-8 scroll-my-8 items-center gap-2 rounded-md border px-2 py-1 text-left hover:bg-sunken',
        'pointer-coarse:min-h-11',
        isChosen ? 'border-accent bg-accent-soft' : 'border-transparent',
      )}
    >
      <Said row={row} mark={mark} />
      <span className="flex shrink-0 flex-wrap items-center justify-end gap-2 max-sm:max-w-2/5">
        {mark !== undefined && <Badge tone={mark.tone}>{mark.text}</Badge>}
        {confidence !== undefined && (
          <span className="w-10 text-right text-[13px] whitespace-nowrap text-soft">
            <span className="sr-only">{texts.confidence} </span>
            {texts.percent(confidence)}
          </span>
        )}
      </span>
    </button>
  );
}

function Typing({ row, typed, onType }: Pick<FieldProps, 'row' | 'onType'> & { typed: string }) {
  const place = useRef<HTMLInputElement>(null);
  useEffect(() => place.current?.focus(), []);
  return (
    <label className="flex items-center gap-2 px-2 py-0.5">
      <span className="w-2/5 min-w-0 shrink-0 text-[13px] break-words text-soft">
        {row.name.replaceAll('_', ' ')}
      </span>
      <input
        ref={place}
        data-editing={row.path}
        value={typed}
        onChange={({ target }) => onType(target.value)}
        className={CONTROL}
      />
    </label>
  );
}

/** One value with its name. What is chosen has the focus, so that its keys are heard. */
export function Field(props: FieldProps) {
  const { row, isChosen, typed, onType, isWhole, note } = props;
  const { name, value, depth, errors } = row;
  const style = { paddingLeft: `${String(depth)}rem` };
  if (value === undefined && !isWhole)
    return (
      <p className="px-2 pt-2 font-medium" style={{ marginLeft: style.paddingLeft }}>
        {name.replaceAll('_', ' ')}
      </p>
    );
  return (
    <div className="flex min-w-0 flex-col" style={style}>
      {isChosen && typed !== undefined ? (
        <Typing row={row} typed={typed} onType={onType} />
      ) : (
        <Standing {...props} />
      )}
      {note !== undefined && <p className="px-2 text-[13px] text-soft">{note}</p>}
      {errors.map((fault) => (
        <p key={fault} className="px-2 text-[13px] text-bad">
          {fault}
        </p>
      ))}
    </div>
  );
}
