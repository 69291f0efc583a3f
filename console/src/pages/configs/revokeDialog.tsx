import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { useChange } from '../../api/hooks.ts';
import { configs } from '../../texts/configs.ts';
import { shell } from '../../texts/shell.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/overlay/dialog.tsx';
import { ProblemNote } from '../../ui/problemNote.tsx';
import type { Config } from './config.ts';

const revokeTexts = configs.revoke;

/** Asks before a config stops for good. */
export function RevokeDialog({ of, onClose }: { of: Config; onClose: () => void }) {
  const cache = useQueryClient();
  const revoke = useChange('revokeConfig');
  const send = async (): Promise<void> => {
    try {
      await revoke.mutateAsync({ path: { config_id: of.config_id } });
    } catch {
      return; // the note says it
    }
    toast(revokeTexts.done);
    onClose();
    await cache.invalidateQueries({ queryKey: ['listConfigs'] });
    await cache.invalidateQueries({ queryKey: ['getConfig'] });
  };
  return (
    <Dialog
      isOpen
      onOpenChange={onClose}
      title={revokeTexts.title(of.name ?? of.config_id)}
      say={revokeTexts.say}
    >
      <ProblemNote error={revoke.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{shell.cancel}</Button>
        <Button look="danger" isBusy={revoke.isPending} onClick={() => void send()}>
          {revokeTexts.submit}
        </Button>
      </div>
    </Dialog>
  );
}
