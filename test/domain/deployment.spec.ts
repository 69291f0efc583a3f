import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ActivateDeployment,
  deployment,
  deploymentFor,
  deploymentStream,
} from '../../domain/deployment.ts';
import { sha256 } from '../../domain/kernel/chain.ts';
import { meta } from '../support/money/moneyCommands.ts';
import { holds } from '../../engine/test/support/properties.ts';
import { specFor } from '../support/specFor.ts';

const { given } = specFor(deployment);
const SCOPE = { tenant_id: 'acme', project_id: 'p', task_id: 't', environment: 'prod' };

const activate = (id: string, percent?: number): ActivateDeployment => ({
  type: 'ActivateDeployment',
  meta,
  data: {
    deployment_id: `dep_${id}_${String(percent ?? 100)}`,
    ...SCOPE,
    artifact_id: `art_${id}`,
    artifact_uri: `quire://artifacts/art_${id}`,
    activated_by: 'key_1',
    rollout:
      percent === undefined ? { strategy: 'all_at_once', percent: 100 } : { strategy: 'canary', percent },
  },
});

const served = (state: Parameters<typeof deploymentFor>[0]) => {
  const documents = Array.from({ length: 1_000 }, (_, n) => sha256(`document ${String(n)}`));
  return documents.map((digest) => deploymentFor(state, digest)?.artifact_id);
};

describe('a deployment', () => {
  it('replaces the one before, and goes back by activating it', () => {
    given(activate('a'))
      .when(activate('b'))
      .then(['DeploymentActivated', { replaces: 'art_a' }], ['DeploymentRetired', { artifact_id: 'art_a' }]);
    const state = given(activate('a'), activate('b')).state();
    expect(state.previous_artifact_id).to.equal('art_a');
    given(activate('a'), activate('b'))
      .when(activate('a'))
      .then(
        ['DeploymentActivated', { artifact_id: 'art_a', replaces: 'art_b' }],
        ['DeploymentRetired', { artifact_id: 'art_b' }],
      );
  });

  it('activates the same once', () => {
    given(activate('a')).when(activate('a')).thenNothing();
    given(activate('a'), activate('b', 10)).when(activate('b', 10)).thenNothing();
    given(activate('a'), activate('b', 10))
      .when(activate('b', 20))
      .then(['DeploymentActivated', { replaces: 'art_b' }], ['DeploymentRetired', { artifact_id: 'art_b' }]);
  });

  it('takes all that serves out of a scope, once, and serves again what comes later', () => {
    const retire = { type: 'RetireDeployments', meta, data: SCOPE } as const;
    given(activate('a'), activate('b', 10))
      .when(retire)
      .then(
        ['DeploymentRetired', { artifact_id: 'art_b', replaced_by: null }],
        ['DeploymentRetired', { artifact_id: 'art_a', replaced_by: null }],
      );
    given(activate('a'), activate('b', 10), retire).when(retire).thenNothing();
    given().when(retire).thenNothing();
    const nothing = { active: null, base: null, previous_artifact_id: null };
    expect(given(activate('a'), activate('b', 10), retire).state()).to.deep.equal(nothing);
    expect(served(given(activate('a'), retire, activate('a')).state())[0]).to.equal('art_a');
  });

  it('lets a canary stand beside what served before', () => {
    const state = given(activate('a'), activate('b', 20)).state();
    expect(state.previous_artifact_id).to.equal('art_a');
    const share = served(state).filter((artifact) => artifact === 'art_b').length;
    expect(share).to.be.within(150, 250);
    expect(served(given(activate('b', 20)).state())).to.not.include(undefined);
    expect(new Set(served(given(activate('a'), activate('b', 20), activate('b')).state()))).to.deep.equal(
      new Set(['art_b']),
    );
  });

  it('serves nothing where nothing is active', () => {
    expect(deploymentFor(given().state(), sha256('x'))).to.equal(null);
  });

  it('has a stream of its own for each scope', () => {
    const other = { ...SCOPE, tenant_id: 'acme:p', project_id: 't', task_id: 'prod', environment: 'x' };
    expect(deploymentStream(other)).to.not.equal(deploymentStream({ ...SCOPE, environment: 'prod:x' }));
  });

  holds(
    'gives a document the same artifact every time, and a wider canary keeps the documents it has',
    fc.property(
      fc.tuple(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 100 })),
      fc.string(),
      ([one, other], text) => {
        const met = (percent: number) =>
          deploymentFor(given(activate('a'), activate('b', percent)).state(), sha256(text))?.artifact_id;
        const [narrow, wide] = [met(Math.min(one, other)), met(Math.max(one, other))];
        if (narrow === 'art_b') expect(wide).to.equal('art_b');
        expect(met(100)).to.equal('art_b');
        expect(['art_a', 'art_b']).to.include(narrow);
      },
    ),
    0.1,
  );
});
