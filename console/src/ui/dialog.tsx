import { useBlocker } from '@tanstack/react-router';
import { X } from './icons/icons.tsx';
import { Dialog as Radix } from 'radix-ui';
import { useRef, type ReactNode } from 'react';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { classes, DOUBLE_CLICK_MS } from './style.ts';

interface DialogProps {
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
  readonly title: string;
  readonly say?: string;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}

/** The first field of a form, or what is marked as the first. */
const FIRST = 'form :is(input, select, textarea):not(:disabled), [data-first]';

/** Begins at the first field of a form, not at the button that closes it. */
const focusFirst = (event: Event): void => {
  const { currentTarget } = event;
  if (!(currentTarget instanceof HTMLElement)) return;
  const first = currentTarget.querySelector<HTMLElement>(FIRST);
  if (first === null) return;
  event.preventDefault();
  first.focus();
};

/** A question or form over the page. Focus stays in it and goes back to where it was. */
export function Dialog({ isOpen, onOpenChange, title, say, isWide, children }: DialogProps) {
  const openedAt = useRef(0);
  const onOpenAutoFocus = (event: Event): void => {
    openedAt.current = performance.now();
    focusFirst(event);
  };
  /** The second press of the double click that opened the dialog does not close it. */
  const onPointerDownOutside = (event: Event): void => {
    if (performance.now() - openedAt.current < DOUBLE_CLICK_MS) event.preventDefault();
  };
  return (
    <Radix.Root open={isOpen} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          onOpenAutoFocus={onOpenAutoFocus}
          onPointerDownOutside={onPointerDownOutside}
          {...(say === undefined ? { 'aria-describedby': undefined } : {})}
          className={classes(
            'fixed top-1/2 left-1/2 z-50 flex max-h-[90vh] w-[calc(100vw-32px)] -translate-1/2 flex-col gap-4',
            'overflow-y-auto rounded-xl border border-line bg-raised p-6 shadow-xl',
            isWide === true ? 'max-w-4xl' : 'max-w-lg',
          )}
        >
          <div className="flex items-start justify-between gap-4">
            <div>
              <Radix.Title className="text-base font-semibold">{title}</Radix.Title>
              {say !== undefined && <Radix.Description className="text-soft">{say}</Radix.Description>}
            </div>
            <Radix.Close asChild>
              <Button look="quiet" size="icon" aria-label={shell.close} className="-mt-1 -mr-2">
                <X aria-hidden className="size-4" />
              </Button>
            </Radix.Close>
          </div>
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/** Asks before a page is left on which something was typed that is kept nowhere. */
export function AskToStay({ isUnsaved }: { isUnsaved: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    enableBeforeUnload: isUnsaved,
    withResolver: true,
  });
  const { leaving: texts } = shell;
  return (
    <Dialog
      isOpen={blocker.status === 'blocked'}
      onOpenChange={() => blocker.reset?.()}
      title={texts.title}
      say={texts.say}
    >
      <div className="flex justify-end gap-2">
        <Button look="primary" onClick={() => blocker.reset?.()}>
          {texts.stay}
        </Button>
        <Button look="danger" onClick={() => blocker.proceed?.()}>
          {texts.leave}
        </Button>
      </div>
    </Dialog>
  );
}
