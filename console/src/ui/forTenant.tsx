import { useState, type ReactNode } from 'react';
import { useActing } from '../api/session.ts';
import { useRead } from '../api/connection.ts';
import { shell } from '../texts/shell.ts';
import { Empty, Skeleton } from './states.tsx';
import { CONTROL } from './style.ts';

/** The tenants that are offered before one types. */
const OFFERED = 100;

/** The tenants that are offered, for those who may see all. */
export const useTenants = (enabled: boolean) =>
  useRead('listTenants', { query: { limit: OFFERED } }, { enabled });

/** Chooses the tenant that an operator acts for, by typing its ID or picking it. */
export function TenantPicker() {
  const { tenantId, chooseTenant } = useActing();
  const { data } = useTenants(true);
  const [typed, type] = useState<string | undefined>(undefined);
  const choose = (): void => {
    const asked = typed?.trim();
    if (asked !== undefined) chooseTenant(asked === '' ? undefined : asked);
    type(undefined);
  };
  return (
    <form
      className="min-w-0"
      onSubmit={(event) => {
        event.preventDefault();
        choose();
      }}
    >
      <input
        aria-label={shell.tenant}
        placeholder={shell.chooseTenant}
        list="tenants-offered"
        value={typed ?? tenantId ?? ''}
        onChange={({ target }) => type(target.value)}
        onBlur={choose}
        className={`${CONTROL} max-w-48`}
      />
      <datalist id="tenants-offered">
        {data?.items.map(({ tenant_id }) => (
          <option key={tenant_id} value={tenant_id} />
        ))}
      </datalist>
    </form>
  );
}

/** Shows what is about one tenant; asks an operator to choose it first. Its content is made anew for another one. */
export function ForTenant({ children }: { children: ReactNode }) {
  const { tenantId, isChoosing } = useActing();
  if (tenantId === undefined && isChoosing) return <Skeleton lines={6} className="h-8" />;
  if (tenantId === undefined)
    return (
      <Empty title={shell.chooseTenant}>
        <TenantPicker />
      </Empty>
    );
  return <div key={tenantId}>{children}</div>;
}
