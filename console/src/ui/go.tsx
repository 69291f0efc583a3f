import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';

/** An address of the console as the router takes it. */
const targetOf = (address: string) => {
  const [to = '', query = ''] = address.split('?');
  return { to, search: Object.fromEntries(new URLSearchParams(query)) };
};

/** A link within the console, such as `<Go to="/tenants/acme">acme</Go>`. */
export function Go({ to, className, children }: { to: string; className?: string; children: ReactNode }) {
  return (
    <Link {...targetOf(to)} className={className ?? 'text-accent hover:underline'}>
      {children}
    </Link>
  );
}

/** What follows a page's own address: `acme` of `/tenants/acme`; undefined at the page itself. */
export const useRest = (): string | undefined => {
  const { _splat }: { _splat?: string } = useParams({ strict: false });
  return _splat === '' ? undefined : _splat;
};

/** Goes to an address of the console. */
export const useGo = (): ((to: string) => void) => {
  const navigate = useNavigate();
  return (to) => void navigate(targetOf(to));
};

type Values<Name extends string> = { readonly [Each in Name]: string | undefined };

const isWord = (value: unknown): value is string | number | boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';

/** Values in the address (`?tab=…`), so that a view can be sent to somebody and survives signing in again. */
export const useAddressValues = <Name extends string>(
  names: readonly Name[],
): readonly [Values<Name>, (changes: Partial<Values<Name>>) => void] => {
  const search: Readonly<Record<string, unknown>> = useSearch({ strict: false });
  const navigate = useNavigate();
  const entries = names.map((name): [Name, string | undefined] => {
    const value = search[name];
    return [name, isWord(value) ? String(value) : undefined];
  });
  const keep = (changes: Partial<Values<Name>>): void => {
    const change = (before: object): object => ({ ...before, ...changes });
    void navigate({ to: '.', search: change, replace: true } as never);
  };
  return [Object.fromEntries(entries) as Values<Name>, keep];
};

/** One value in the address. */
export const useAddressValue = (
  name: string,
): readonly [string | undefined, (value: string | undefined) => void] => {
  const [values, keep] = useAddressValues([name]);
  return [values[name], (value) => keep({ [name]: value })];
};
