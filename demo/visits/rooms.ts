// What visitors do in the shop's rooms: they write and answer in chats and below posts, meet in video rooms and fill in
// blocks. The shop's server reports it. These are the events that webhooks are for.

import { int, text } from './event.ts';
import { createWeighted, type Random } from './random.ts';
import { record, type Walk } from './walk.ts';

interface Room {
  id: string;
  space: string;
  type: 'chat' | 'post' | 'video';
}

const spaces = ['helpdesk', 'workshop', 'outdoors', 'kitchen', 'members'];
const types = ['chat', 'chat', 'chat', 'post', 'post', 'video'] as const;

/** Thirty rooms: each space has three chats, two posts and a video room. */
const rooms: readonly Room[] = spaces.flatMap((space) =>
  types.map((type, index): Room => ({ id: `${space}-${type}-${index + 1}`, space, type })),
);

/** The room that is never empty; the demo's webhook hears it. */
export const busiestRoom = 'helpdesk-chat-1';
export const spaceOfRooms = 'helpdesk';
export const feedbackBlock = 'feedback-form';

/** Perhaps takes part in a room, as about one visitor in six does. */
export function visitRoom(walk: Walk): void {
  const { random } = walk;
  if (!random.chance(0.17)) return;
  const room = random.chance(0.3) ? rooms[0] : random.pick(rooms);
  if (room === undefined) return;
  if (room.type === 'video') meet(walk, room);
  const actions = 1 + Math.floor(random.exponential(3));
  const messages: string[] = [];
  for (let action = 0; action < actions; action++) pickAction(random)(walk, room, messages);
}

type Action = (walk: Walk, room: Room, messages: string[]) => void;

const pickAction = createWeighted<Action>([
  [82, sendMessage],
  [9, (walk, room, messages) => changeMessage(walk, room, messages, 'message_edited')],
  [4, (walk, room, messages) => changeMessage(walk, room, messages, 'message_deleted')],
  [5, answerBlock],
]);

function sendMessage(walk: Walk, room: Room, messages: string[]): void {
  const id = idOf('msg', walk.random);
  messages.push(id);
  record(
    walk,
    'message_sent',
    {
      ...placeOf(room),
      message_id: text(id),
      characters: int(1 + Math.floor(walk.random.exponential(90))),
    },
    'server',
  );
}

/** Does nothing where the visitor has sent none. */
function changeMessage(
  walk: Walk,
  room: Room,
  messages: readonly string[],
  kind: 'message_edited' | 'message_deleted',
): void {
  const id = messages.at(-1);
  if (id === undefined) return;
  record(walk, kind, { ...placeOf(room), message_id: text(id) }, 'server');
}

function answerBlock(walk: Walk, room: Room): void {
  const answer = {
    block_id: text(feedbackBlock),
    response_id: text(idOf('rsp', walk.random)),
    score: int(walk.random.between(1, 5)),
  };
  record(walk, 'block_response_sent', { ...placeOf(room), ...answer }, 'server');
}

/** One meeting in five is recorded; most recordings get a transcript. */
function meet(walk: Walk, room: Room): void {
  if (!walk.random.chance(0.2)) return;
  const recording = { ...placeOf(room), recording_id: text(idOf('rec', walk.random)) };
  const seconds = int(walk.random.between(300, 3_600));
  record(walk, 'room_recording_published', { ...recording, seconds }, 'server');
  if (!walk.random.chance(0.8)) return;
  const language = text(walk.visitor.place.language);
  record(walk, 'room_recording_transcript_published', { ...recording, language }, 'server');
}

function placeOf({ id, space, type }: Room) {
  return { room_id: text(id), space_id: text(space), room_type: text(type) };
}

function idOf(prefix: string, random: Random): string {
  return `${prefix}_${random.word().toString(36)}${random.word().toString(36)}`;
}
