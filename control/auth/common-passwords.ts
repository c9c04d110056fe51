// The passwords that everybody tries first: the commonest of at least eight characters, and those of one character
// alone. The rule of a new password's length is ../request-fields.ts's.

const words = `
password passw0rd p@ssw0rd p@ssword pa55word pa$$word passwort passwords mypassword thepassword password! drowssap
iloveyou ilovehim iloveher ilovegod iloveyou! iloveyousomuch loveyou! lovelove lovely12 ihateyou sunshine princess
football baseball basketball softball volleyball swimming baseball1 superman spiderman batman12 starwars pokemon1
pokemon! minecraft fortnite roblox12 nintendo playstation michelle jennifer jessica1 samantha elizabeth alexander
benjamin jonathan christian christopher victoria veronica isabella danielle stephanie caroline charlotte nicholas
anthony1 william1 matthew1 michael1 thomas12 charlie1 jordan23 hunter12 robert12 andrew12 daniel12 joshua12 ashley12
letmein! letmein1 letmein123 welcome1 welcome! welcome123 trustno1 whatever whatever1 changeme changeme! changeit
secret12 secret123 topsecret computer internet keyboard database security administrator admin123 admin1234 adminadmin
administrador root1234 rootroot rootpass toor1234 useruser testtest test1234 testing1 testpass tester12 guest123
default1 temppass temp1234 password0 master12 mastermind dragon12 dragonball monkey12 mustang1 shadow12 killer12
phoenix1 liverpool chelsea1 arsenal1 barcelona realmadrid manchester juventus cowboys1 yankees1 steelers lakers24
blink182 metallica nirvana1 slipknot eminem12 mercedes corvette porsche1 ferrari1 harley12 chevrolet
butterfly chocolate cheesecake strawberry sweetheart snowball snoopy12 hello123 hello1234 hellohello helloworld
hellokitty goodluck babygirl babygirl1 babyboy1 babydoll princess1 princesa beautiful gorgeous precious friends1
friendship familia1 mommy123 daddy123 jesus123 jesuschrist godisgood blessed1 blessing angel123 angels12 tinkerbell
midnight november december september october1 january1 february summer01 summer20 winter20 spring20 autumn20 sunday12
monday12 friday13 pa55w0rd qwertyui qwertyuiop qwerty12 qwerty123 qwerty1234 qwerty12345 qwerty123456 qwerty!@
qwertyqwerty qwertz123 qwertzui qwertzuiop azertyui azertyuiop asdfghjk asdfghjkl asdfasdf asdf1234 asdfasdfasdf
zxcvbnm1 zxcvbnm123 zxcvbnm, zxczxczxc 1qaz2wsx 1qaz2wsx3edc 1qaz!qaz 1qaz@wsx qazwsxedc qazwsx12 qazwsx123 zaq12wsx
zaq1zaq1 zaq1xsw2 !qaz2wsx q1w2e3r4 q1w2e3r4t5 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y q2w3e4r5 abcd1234 abcd12345 abc12345
abc123456 abcabc123 abcdefgh abcdefghi abcdefg1 a1b2c3d4 a1b2c3d4e5 aa123456 aa12345678 a1234567 a12345678 a123456789
1a2b3c4d 1234abcd 123abc123 123456ab 123456aa 123456abc 123qweasd 123qwe123 123qweasdzxc qwe123qwe qweasdzxc qwe12345
qweqwe123 qweqweqwe asd12345 zxc12345 12345678 123456789 1234567890 01234567 0123456789 0987654321 987654321 9876543210
87654321 876543210 12345678910 1234567891 12341234 123412341234 12344321 123123123 1231231234 123321123 123454321
1234554321 11223344 1122334455 112233445566 12121212 1212121212 13131313 10101010 69696969 77777778 00000001 147258369
14725836 159357159 159753159 741852963 789456123 963852741 321654987 456789123 147852369 246813579 135792468 13579246
24681012 31415926 314159265 27182818 20002000 20202020 20212021 20222022 20232023 20242024 20252025 20262026 19901990
19801980 12345679 123456780 12345600 123456654321 654321123 1q1q1q1q 1a1a1a1a
`;

const commonest: ReadonlySet<string> = new Set(words.split(/\s+/).filter(Boolean));

/** Whether a password is one that everybody tries: in any capitals, and with the digits and signs often put behind. */
export function isCommonPassword(password: string): boolean {
  const plain = password.normalize('NFKC').toLowerCase().trim();
  if (new Set(plain).size <= 1) return true;
  return commonest.has(plain) || commonest.has(plain.replace(/[\d\p{P}\p{S}]{1,4}$/u, ''));
}
