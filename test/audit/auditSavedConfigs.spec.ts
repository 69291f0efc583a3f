import { expect } from 'chai';
import type { AuditedEvent } from '../../src/audit/auditedEvent.ts';
import { findingsKept } from '../../src/audit/findings.ts';
import { savedConfigsCheck } from '../../src/audit/works.ts';

const event = (type: 'ConfigPublished' | 'ConfigRevoked', data: object, stream = 'config-cfg-1') =>
  ({ stream, revision: 0n, position: 1n, type, data: { tenant_id: 'acme', ...data } }) as AuditedEvent;
const version = (n: number, over: object = {}) => event('ConfigPublished', { version: n, ...over });
const revoked = event('ConfigRevoked', {});

const found = (...events: readonly AuditedEvent[]) => {
  const findings = findingsKept(9);
  const check = savedConfigsCheck(findings);
  for (const one of events) check(one);
  return findings.result().findings.map(({ message }) => message);
};

describe('what the auditor holds saved configs against', () => {
  it('finds nothing in versions that follow one another and end with a revocation', () => {
    const other = event('ConfigPublished', { version: 1, tenant_id: 'other' }, 'config-cfg-2');
    expect(found(version(1), other, version(2), revoked)).to.deep.equal([]);
  });
  it('finds a version that is missing, or there twice, once each', () => {
    expect(found(version(1), version(3), version(4))).to.deep.equal([
      'Version 3 was published where 2 belongs.',
    ]);
    expect(found(version(1), version(1))).to.deep.equal(['Version 1 was published where 2 belongs.']);
  });
  it('finds what comes after a revocation, or revokes nothing', () => {
    const late = 'It comes after the config was revoked.';
    expect(found(version(1), revoked, revoked)).to.deep.equal([late]);
    expect(found(version(1), revoked, version(2), version(3))).to.deep.equal([late, late]);
    expect(found(revoked)).to.deep.equal(['It revokes a config that was never published.']);
  });
  it('finds a config that changes hands', () => {
    expect(found(version(1), version(2, { tenant_id: 'other' }), version(3))).to.deep.equal([
      'It gives the config to another tenant.',
    ]);
  });
});
