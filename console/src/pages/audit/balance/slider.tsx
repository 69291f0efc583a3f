import type { KeyboardEvent } from 'react';
import { audit } from '../../../texts/audit.ts';
import { Button } from '../../../ui/button.tsx';
import { CONTROL } from '../../../ui/form/control.ts';
import { localText, type Moment, type Unit } from './moment.ts';

const texts = audit.balance;

export type Direction = 'backwards' | 'forwards';

const KEYS: Readonly<Record<string, Direction>> = {
  ArrowLeft: 'backwards',
  ArrowDown: 'backwards',
  ArrowRight: 'forwards',
  ArrowUp: 'forwards',
};

interface SliderProps {
  readonly unit: Unit;
  readonly range: readonly [number, number];
  readonly value: number;
  readonly onChange: (value: number) => void;
  readonly onStep: (direction: Direction) => void;
}

/** Chooses a moment roughly; the arrow keys go from event to event, Page Up and Page Down by a tenth. */
export function Slider({ unit, range: [least, most], value, onChange, onStep }: SliderProps) {
  const said =
    unit === 'position' ? audit.list.position(String(value)) : new Date(value).toLocaleString('en-GB');
  const onKeyDown = (event: KeyboardEvent): void => {
    const direction = KEYS[event.key];
    if (direction === undefined) return;
    event.preventDefault();
    onStep(direction);
  };
  return (
    <div className="flex flex-wrap items-center gap-3">
      <input
        type="range"
        aria-label={unit === 'position' ? texts.position : texts.moment}
        aria-valuetext={said}
        min={least}
        max={most}
        step={1}
        value={value}
        onChange={({ target }) => onChange(Number(target.value))}
        onKeyDown={onKeyDown}
        className="h-8 min-w-40 flex-1 accent-accent"
      />
      <output className="w-48 text-right">{said}</output>
    </div>
  );
}

interface ExactlyProps {
  readonly moment: Moment;
  readonly onTime: (time: number) => void;
  readonly onStep: (direction: Direction) => void;
  readonly onNow: () => void;
}

/** Chooses a moment to the millisecond, or by the event that it ends with. */
export function Exactly({ moment, onTime, onStep, onNow }: ExactlyProps) {
  return (
    <div className="flex flex-wrap items-center gap-3">
      <label className="flex items-center gap-2 text-soft">
        {texts.exact}
        <input
          type="datetime-local"
          step={0.001}
          value={localText(moment.time)}
          onChange={({ target }) => {
            const time = Date.parse(target.value);
            if (!Number.isNaN(time)) onTime(time);
          }}
          className={`${CONTROL} w-60`}
        />
      </label>
      <Button size="small" onClick={() => onStep('backwards')}>
        {texts.before}
      </Button>
      <Button size="small" onClick={() => onStep('forwards')}>
        {texts.after}
      </Button>
      <Button size="small" onClick={onNow}>
        {texts.now}
      </Button>
    </div>
  );
}
