import { useBlocker } from '@tanstack/react-router';
import { shell } from '../texts/shell.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';

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
