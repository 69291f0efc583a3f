import { Tooltip as Radix, Slot } from 'radix-ui';
import { useRef, useState, type ReactElement, type ComponentProps } from 'react';
import { classes } from './style.ts';

/** A few words on hover and on focus by keyboard; the child, a button or link, is what they are about. */
function Tooltip({ say, children }: { say: string; children: ReactElement }) {
  const trigger = useRef<HTMLButtonElement>(null);
  const [isOpen, open] = useState(false);
  const hasKeyboard = (): boolean => trigger.current?.matches(':focus-visible') === true;
  /** The pointer went, or the page scrolled, also to bring what has the focus into view: then it stays. */
  const onOpenChange = (wanted: boolean): void => open(wanted || hasKeyboard());
  return (
    <Radix.Root open={isOpen} onOpenChange={onOpenChange}>
      <Radix.Trigger
        asChild
        ref={trigger}
        onFocus={(event) => {
          // what a dialog gives the focus to was not asked about
          if (!hasKeyboard()) event.preventDefault();
        }}
      >
        {children}
      </Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={4}
          collisionPadding={8}
          onEscapeKeyDown={(event) => {
            event.preventDefault();
            open(false);
          }}
          className="z-50 max-w-80 rounded-md bg-ink px-2 py-1 text-[13px] text-page shadow"
        >
          {say}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

const LOOKS = {
  primary: 'bg-accent text-on-accent hover:opacity-90 border-transparent',
  plain: 'bg-surface text-ink border-line hover:bg-sunken',
  quiet: 'bg-transparent text-soft border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-bad-soft text-bad border-bad/40 hover:border-bad',
} as const;

const SIZES = { small: 'h-7 px-2 text-[13px]', normal: 'h-8 px-3', icon: 'size-8 justify-center' } as const;

interface ButtonProps extends ComponentProps<'button'> {
  readonly look?: keyof typeof LOOKS;
  readonly size?: keyof typeof SIZES;
  /** The child, such as a link, is what is shown as a button. */
  readonly asChild?: boolean;
  /** Work goes on that this button began: it cannot be pressed again. */
  readonly isBusy?: boolean;
}

/** A button; one that only has an icon needs an `aria-label`, which it shows on hover and focus. */
export function Button({
  look = 'plain',
  size = 'normal',
  asChild,
  isBusy,
  className,
  ...rest
}: ButtonProps) {
  const Shown = asChild === true ? Slot.Root : 'button';
  const { 'aria-label': name, 'aria-describedby': description } = rest;
  const button = (
    <Shown
      type={asChild === true ? undefined : 'button'}
      aria-busy={isBusy}
      {...rest}
      disabled={rest.disabled === true || isBusy === true}
      className={classes(
        'inline-flex shrink-0 items-center gap-2 rounded-md border font-medium whitespace-nowrap transition-colors',
        'disabled:cursor-default disabled:opacity-50',
        LOOKS[look],
        SIZES[size],
        className,
      )}
      // its name is what the tooltip says: it is not read twice
      aria-describedby={description}
    />
  );
  return size === 'icon' && name !== undefined ? <Tooltip say={name}>{button}</Tooltip> : button;
}
