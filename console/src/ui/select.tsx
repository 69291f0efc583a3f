import { Check, ChevronDown } from './icons/icons.tsx';
import { Select as Radix } from 'radix-ui';
import { shell, statusName } from '../texts/shell.ts';
import { styleNonce, CONTROL, classes } from './style.ts';

const given = styleNonce();
/** The list brings a style tag that hides its scroll bar. */
const nonce = given === undefined ? {} : { nonce: given };

export interface Choice {
  readonly value: string;
  readonly name: string;
}

/** Statuses to choose from, in words. */
export const statusChoices = (statuses: readonly string[]): readonly Choice[] =>
  statuses.map((value) => ({ value, name: statusName(value) }));

interface SelectProps {
  readonly choices: readonly Choice[];
  /** '' shows the placeholder. */
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly label?: string;
  readonly id?: string;
  readonly placeholder?: string;
  readonly isDisabled?: boolean;
}

/** One of a few. A label is needed where no Field stands around it. */
export function Select({
  choices,
  value,
  onChange,
  label,
  id,
  placeholder = shell.choose,
  isDisabled,
}: SelectProps) {
  return (
    <Radix.Root value={value} onValueChange={onChange} disabled={isDisabled === true}>
      <Radix.Trigger
        id={id}
        aria-label={label}
        className={`${CONTROL} inline-flex items-center justify-between gap-2`}
      >
        <span className="truncate">
          <Radix.Value placeholder={placeholder} />
        </span>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-soft" />
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          position="popper"
          sideOffset={4}
          className={classes(
            'z-50 max-h-80 min-w-(--radix-select-trigger-width) overflow-y-auto rounded-md',
            'border border-line bg-raised p-1 shadow-lg',
          )}
        >
          <Radix.Viewport {...nonce}>
            {choices.map((choice) => (
              <Radix.Item
                key={choice.value}
                value={choice.value}
                className={classes(
                  'flex items-center justify-between gap-4',
                  'rounded px-2 py-1 outline-none data-[highlighted]:bg-accent-soft',
                )}
              >
                <Radix.ItemText>{choice.name}</Radix.ItemText>
                <Radix.ItemIndicator>
                  <Check aria-hidden className="size-4 text-accent" />
                </Radix.ItemIndicator>
              </Radix.Item>
            ))}
          </Radix.Viewport>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
