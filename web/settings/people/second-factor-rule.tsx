// Whether an organization asks its members for a second factor.

import type { Org } from '../../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { explain } from '../../client.ts';
import { Check } from '../../fields/field.tsx';
import { toast } from '../../ui/toasts.tsx';
import { loadWorkspace, orgsClient } from '../../workspace.ts';

export function SecondFactorRule({ org }: { org: Org }) {
  const change = async (requiresSecondFactor: boolean): Promise<void> => {
    try {
      await orgsClient.update({ orgId: org.id, id: org.id, requiresSecondFactor });
      toast(
        requiresSecondFactor ? 'Members need a second factor now' : 'No second factor is needed',
      );
    } catch (cause) {
      toast(explain(cause).what);
    }
    await loadWorkspace();
  };
  return (
    <section class="card">
      <h2>Second factor</h2>
      <Check
        label="Members need a second factor"
        checked={org.requiresSecondFactor}
        onValue={(isOn) => void change(isOn)}
      />
      <p class="hint">
        To a member without one nothing of the organization opens until they set one up. Keys go on.
        You need one yourself first: <a href="/account">your account</a>.
      </p>
    </section>
  );
}

/** In the place of everything of an organization that asks the reader for a second factor. */
export function SecondFactorFirst({ org }: { org: Org }) {
  return (
    <section class="empty">
      <h2>{org.displayName} asks for a second factor</h2>
      <p>Its projects open once your account has one.</p>
      <a class="button primary" href="/account">
        Set up a second factor
      </a>
    </section>
  );
}
