// The fields of a webhook, for a new one and for changes.

import { useState } from 'preact/hooks';
import { Field, Select, TextArea } from '../fields/field.tsx';
import { Form } from '../fields/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { type Subscription, subjects, subscriptionTypes, type WebhookContent } from './api.ts';

const empty: Subscription = {
  subject_type: subjects[0].value,
  subject_id: '',
  subscription_type: subscriptionTypes[0].value,
};

export function WebhookForm(props: {
  action: string;
  start?: WebhookContent;
  send: (content: WebhookContent) => Promise<void>;
}) {
  const [draft, setDraft] = useState<WebhookContent>(
    props.start ?? { name: '', description: '', endpoint_url: '', subscriptions: [empty] },
  );
  const set = (change: Partial<WebhookContent>): void => setDraft({ ...draft, ...change });
  const { subscriptions } = draft;
  const setOne = (at: number, change: Partial<Subscription>): void =>
    set({
      subscriptions: subscriptions.map((one, index) =>
        index === at ? { ...one, ...change } : one,
      ),
    });
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
          <SubscriptionFields value={subscription} onChange={(change) => setOne(at, change)} />
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
        <button type="button" onClick={() => set({ subscriptions: [...subscriptions, empty] })}>
          <Icon name="plus" />
          Another subscription
        </button>
      </div>
    </Form>
  );
}

function SubscriptionFields(props: {
  value: Subscription;
  onChange: (change: Partial<Subscription>) => void;
}) {
  const { value, onChange } = props;
  return (
    <div class="row">
      <Select
        label="When"
        value={value.subscription_type}
        options={subscriptionTypes}
        onValue={(subscription_type) => onChange({ subscription_type })}
      />
      <Select
        label="In"
        value={value.subject_type}
        options={subjects}
        onValue={(subject_type) => onChange({ subject_type })}
      />
      <Field
        label="Its id"
        required
        value={value.subject_id}
        onValue={(subject_id) => onChange({ subject_id })}
      />
      <Field
        label="Room type"
        placeholder="any"
        value={value.filter?.room_type ?? ''}
        onValue={(room_type) => onChange({ filter: room_type ? { room_type } : {} })}
      />
    </div>
  );
}
