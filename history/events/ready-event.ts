// An event on its way: it keeps the rules, and its text is one of a body of BatchCreate.

export interface ReadyEvent {
  /** JSON; without a sessionId where `hasSession` is false. */
  text: string;
  eventId: string;
  kind: string;
  distinctId: string;
  timeMs: number;
  hasSession: boolean;
}
