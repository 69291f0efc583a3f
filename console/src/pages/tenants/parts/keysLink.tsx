import { useActing } from '../../../api/useSession.ts';
import { tenants as texts } from '../../../texts/tenants.ts';
import { Button } from '../../../ui/button.tsx';
import { useGo } from '../../../ui/go.tsx';

/** Acts for this tenant on the page of keys. */
export function KeysLink({ tenantId }: { tenantId: string }) {
  const { chooseTenant } = useActing();
  const go = useGo();
  return (
    <Button
      look="quiet"
      onClick={() => {
        chooseTenant(tenantId);
        go('/keys');
      }}
    >
      {texts.keys}
    </Button>
  );
}
