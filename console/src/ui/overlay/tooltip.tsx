import { Tooltip as Radix } from 'radix-ui';
import { useRef, useState, type ReactElement } from 'react';

/** A few words on hover and on focus by keyboard; the child, a button or link, is what they are about. */
export function Tooltip({ say, children }: { say: string; children: ReactElement }) {
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
