// The fields of a webhook, for a new one and for changes.

import { useState } from 'preact/hooks';
import { Field, TextArea } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { currentProject } from '../workspace.ts';
import {
  projectSubject,
  projectSubscriptionType,
  type Subscription,
  type WebhookContent,
} from './api.ts';
import { SubscriptionFields } from './subscription-fields.tsx';

const empty = (): Subscription => ({
  subject_type: projectSubject,
  subject_id: currentProject.value?.id ?? '',
  subscription_type: projectSubscriptionType,
});

export function WebhookForm(props: {
  action: string;
  start?: WebhookContent;
  send: (content: WebhookContent) => Promise<void>;
}) {
  const [draft, setDraft] = useState<WebhookContent>(
    props.start ?? { name: '', description: '', endpoint_url: '', subscriptions: [empty()] },
  );
  const set = (change: Partial<WebhookContent>): void => setDraft({ ...draft, ...change });
  const { subscriptions } = draft;
  const setOne = (at: number, next: Subscription): void =>
    set({ subscriptions: subscriptions.map((one, index) => (index === at ? next : one)) });
  return (
    <Form action={props.action} send={() => props.send(draft)}>
      <Field
        label="Name"
        required
        maxLength={150}
        value={draft.name}
        onValue={(name) => set({ name })}
      />
      <Field
        label="Endpoint"
        type="url"
        required
        hint="An https address on the internet that takes POST requests. Others need MILLRACE_WEBHOOK_ALLOW."
        placeholder="https://example.org/hooks"
        value={draft.endpoint_url}
        onValue={(endpoint_url) => set({ endpoint_url })}
      />
      <TextArea
        label="Description"
        rows={2}
        value={draft.description}
        onValue={(description) => set({ description })}
      />
      {subscriptions.map((subscription, at) => (
        <fieldset key={at}>
          <legend>Subscription {at + 1}</legend>
          <SubscriptionFields value={subscription} onChange={(next) => setOne(at, next)} />
          {subscriptions.length > 1 ? (
            <button
              type="button"
              class="link danger-text"
              onClick={() =>
                set({ subscriptions: subscriptions.filter((_, index) => index !== at) })
              }
            >
              Remove subscription {at + 1}
            </button>
          ) : null}
        </fieldset>
      ))}
      <div>
        <button type="button" onClick={() => set({ subscriptions: [...subscriptions, empty()] })}>
          <Icon name="plus" />
          Another subscription
        </button>
      </div>
    </Form>
  );
}
