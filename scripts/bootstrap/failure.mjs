/** Something that the person at the keyboard can mend: its message is printed without a stack trace. */
export class Failure extends Error {
  name = 'Failure';
}
