// Lists the kinds of event whose meaning is fixed, and the properties that each must or may carry. The reference path
// and the scanner both read this table; it checks nothing. Kinds are spelled as listed, property names also in
// camelCase. An event may carry any other property too.

/** The check that a well-known property must pass. */
export type WellKnownCheck =
  | 'id'
  | 'text'
  | 'non_empty_text'
  | 'amount'
  | 'currency'
  | 'click_count'
  | 'percent'
  | 'score';

interface WellKnownProperty {
  readonly snakeName: string;
  readonly camelName: string;
  readonly isRequired: boolean;
  readonly check: WellKnownCheck;
}

/** The listed properties of each kind. */
export type WellKnownKinds = ReadonlyMap<string, readonly WellKnownProperty[]>;

function required(snakeName: string, check: WellKnownCheck): WellKnownProperty {
  return { snakeName, camelName: camelCase(snakeName), isRequired: true, check };
}

function optional(snakeName: string, check: WellKnownCheck): WellKnownProperty {
  return { snakeName, camelName: camelCase(snakeName), isRequired: false, check };
}

function camelCase(snakeName: string): string {
  return snakeName.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

const roomMessage = [
  required('room_id', 'id'),
  required('message_id', 'id'),
  optional('space_id', 'id'),
  optional('room_type', 'text'),
  optional('block_id', 'id'),
];

const roomRecording = [
  required('room_id', 'id'),
  required('recording_id', 'id'),
  optional('space_id', 'id'),
  optional('room_type', 'text'),
];

const blockResponse = [
  required('block_id', 'id'),
  required('response_id', 'id'),
  optional('room_id', 'id'),
  optional('space_id', 'id'),
  optional('room_type', 'text'),
];

export const wellKnownKinds: WellKnownKinds = new Map(
  Object.entries({
    // Navigation
    page_view: [],
    screen_view: [required('screen_name', 'non_empty_text')],
    click: [],
    rage_click: [optional('click_count', 'click_count')],
    dead_click: [],
    scroll: [optional('percent', 'percent')],
    // App
    app_open: [],
    app_close: [],
    app_install: [],
    app_update: [required('app_version', 'non_empty_text')],
    app_crashed: [],
    feature_used: [required('feature_id', 'id')],
    // Account
    signup: [],
    signin: [],
    signout: [],
    email_verified: [],
    password_reset_requested: [],
    password_reset_completed: [],
    // Commerce
    product_viewed: [required('product_id', 'id')],
    product_list_viewed: [required('list_id', 'id')],
    add_to_cart: [required('product_id', 'id')],
    remove_from_cart: [required('product_id', 'id')],
    cart_viewed: [],
    checkout_started: [],
    checkout_step_completed: [required('checkout_id', 'id'), required('step', 'id')],
    purchase: [
      optional('amount', 'amount'),
      optional('currency', 'currency'),
      optional('order_id', 'id'),
    ],
    order_refunded: [required('order_id', 'id')],
    // Billing
    subscription_started: [required('subscription_id', 'id')],
    subscription_changed: [required('subscription_id', 'id')],
    subscription_canceled: [required('subscription_id', 'id')],
    subscription_renewed: [required('subscription_id', 'id')],
    trial_started: [],
    trial_converted: [],
    invoice_paid: [required('invoice_id', 'id')],
    invoice_failed: [required('invoice_id', 'id')],
    payment_succeeded: [],
    payment_failed: [],
    // Discovery
    search: [required('query', 'text')],
    search_result_clicked: [required('query', 'text'), required('result_id', 'id')],
    // Media
    video_started: [required('video_id', 'id')],
    video_played: [required('video_id', 'id')],
    video_paused: [required('video_id', 'id')],
    video_completed: [required('video_id', 'id')],
    // Form
    form_start: [required('form_id', 'id')],
    form_submit: [required('form_id', 'id')],
    // Error
    error_occurred: [required('error_code', 'id')],
    // Social
    share: [],
    feedback_submitted: [],
    nps_submitted: [optional('score', 'score')],
    // Rooms: webhooks are made from these
    message_sent: roomMessage,
    message_edited: roomMessage,
    message_deleted: roomMessage,
    room_recording_published: roomRecording,
    room_recording_transcript_published: roomRecording,
    block_response_sent: blockResponse,
  }),
);
