import { useQueryClient } from '@tanstack/react-query';
import { toast } from 'sonner';
import { useChange } from '../../api/hooks.ts';
import { pipelines } from '../../texts/pipelines.ts';

/** What is activated, and where. */
export interface Activation {
  readonly tenant_id: string;
  readonly project_id: string;
  readonly task_id: string;
  readonly environment?: string;
  readonly artifact_id: string;
  readonly artifact_uri: string;
}

/** Makes a project use an artifact, for a share of its documents. */
export const useActivate = (onDone: () => void) => {
  const cache = useQueryClient();
  const activate = useChange('activateDeployment');
  const run = async (activation: Activation, percent: number): Promise<void> => {
    const rollout = percent === 100 ? null : { strategy: 'canary' as const, percent };
    const answer = await activate.mutateAsync({ body: { ...activation, rollout } }).catch(() => undefined);
    if (answer === undefined) return;
    toast(pipelines.deploy.done);
    onDone();
    await cache.invalidateQueries({ queryKey: ['listDeployments'] });
  };
  return { run, error: activate.error, isBusy: activate.isPending };
};
