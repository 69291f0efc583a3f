import { useRest } from '../../ui/go.tsx';
import { TenantAccount } from './tenantAccount.tsx';
import { TenantList } from './tenantList.tsx';

/** Tenants: all of them, or the account of one. */
export default function TenantsPage() {
  const tenantId = useRest();
  return tenantId === undefined ? <TenantList /> : <TenantAccount key={tenantId} tenantId={tenantId} />;
}
