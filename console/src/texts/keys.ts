import { isolated } from './shell.ts';

/** Words of the page "Keys". */
export const keys = {
  title: 'Keys',
  say: 'Programs use a key to call the API. A key is shown once, when it is made.',
  list: 'API keys',
  empty: {
    title: 'No keys yet',
    say: 'Create a key, store it where your program reads its secrets, and send it as X-API-KEY.',
  },
  columns: {
    name: 'Name',
    key: 'Key',
    role: 'Role',
    state: 'State',
    created: 'Created',
    used: 'Last used',
    ends: 'Ends',
    actions: 'Actions',
  },
  unnamed: 'Unnamed',
  erased: 'Erased',
  states: { live: 'Active', ending: 'Ending', over: 'Expired', revoked: 'Revoked' },
  showAll: 'Show revoked and expired',
  create: {
    open: 'Create a key',
    title: 'Create a key',
    say: 'It works from the moment it is shown.',
    name: 'Name',
    nameSay: 'So that you recognise it later, such as the program that uses it.',
    tooLong: 'At most 200 characters.',
    role: 'Role',
    roleSay:
      'Only tenant keys are billed. Service keys act for every tenant, seller keys tell of payments and do nothing ' +
      'else, admin keys may do everything.',
    roles: { tenant: 'Tenant', service: 'Service', seller: 'Seller', admin: 'Admin' },
    ends: 'Ends after',
    never: 'Never',
    days: (days: number) => `${String(days)} days`,
    submit: 'Create',
  },
  rotate: {
    open: 'Rotate',
    title: (name: string) => `Rotate ${isolated(name)}`,
    say: 'You get a new key with the same role and name. The old one stops after the time you choose.',
    grace: 'The old key stops',
    graces: { '0': 'Immediately', '3600': 'In 1 hour', '86400': 'In 1 day', '604800': 'In 7 days' },
    submit: 'Rotate',
  },
  revoke: {
    open: 'Revoke',
    title: (name: string) => `Revoke ${isolated(name)}?`,
    say: 'Programs that use this key are refused from now on. This cannot be undone.',
    made: 'Also revoke the keys that were made with it: whoever knows this key may know them.',
    submit: 'Revoke the key',
    done: 'The key was revoked.',
  },
  secret: {
    title: 'Your new key',
    say: 'Copy it now and store it in a safe place. It is not shown again.',
    label: 'The key',
    copy: 'Copy the key',
    stored: 'I have stored it',
    warning: 'The key is not shown again. Store it first, then press “I have stored it”.',
  },
} as const;
