package docserver

import "sync"

// weakWords are common in English of any subject. Rare as one of them may be in
// the pages, it says less about what a question asks than other words do.
var weakWords = sync.OnceValue(func() map[string]bool {
	return wordSet(stem, `
		ability able above accept achieve across act actual add additional advantage advise affect after afterwards again against age ago agree
		ahead aim all allow almost alone along already although always among amount answer anybody anyway apart appear apply approach
		appropriate area argue arise around arrive ask aspect assume attempt attention available avoid aware away
		back bad based basic basis because become before begin behave behavior behaviour behind believe belong below benefit besides best
		better beyond big brief bring broad build busy
		call capable care careful carry case cause central certain chance change cheap check choice choose claim clear clever
		combine come common compare comparison complete complex complicated concern consequence consider considerable contain continue
		contrary convenient correct cost couple course create crucial current
		daily dangerous day deal decide deep define definite degree demand depend describe deserve design desire despite detail develop
		differ different difference difficult difficulty direct directly disadvantage discover discuss distinct divide doubt due
		during
		eager early easy easily effect effective effort either else elsewhere encourage end enjoy enormous enough ensure enter entire
		especially essential establish etc even eventual ever everybody everyone everything everywhere exact examine example excellent
		except exclude exist expect experience explanation explore express extend extent extra extreme
		fact factor fail fair fairly fall familiar famous far fast feature feel few final find fine finish first fit fix
		focus follow following forever forget former forward frequent full fully fun fundamental further future
		gain gather general given glad go goal good gradual great grow guess guide
		habit half handle handy happen happy hard hardly hear heavy help helpful hence hide high hint hope however huge
		idea ideal ignore imagine immediate impact importance important impossible impression improve include increase indeed indicate
		individual influence inform information inside insist instance instead intend interest interesting introduce introduction
		involve issue
		job judge keep kind knowledge
		lack large last late later latest latter lead learn least leave left less let lie life like likely list little long
		longer look lose loss lot low
		main mainly maintain major majority manage manner many matter maybe meaning meaningful meanwhile mention mere middle mind minor
		miss mistake modern moment month more moreover most mostly move much multiple
		natural nature near nearly necessary neither never nevertheless new next nice no nobody none nor normal normally not nothing notice
		now nowadays nowhere number
		observe obtain obvious occasion occur odd offer often ok okay old once one ones ongoing open opinion opportunity opposite option
		order ordinary organize origin original otherwise ought outcome outside overall overcome overview own
		part participate particular past people perfect perform perhaps permanent person personal pick place plain
		plan play plenty point popular positive possess possible possibility potential practical practice precise prefer
		preferable prepare presence pretend pretty prevent previous principle prior probable probably problem
		procedure produce promise proper properly provide purpose put
		quality question quick quickly quiet quite
		raise rapid rare rarely rather reach react read ready real realize reason reasonable recall receive recent recognize
		recommend refer reflect regard regarding regardless regular relate related relation relationship relative relevant reliable
		rely remain remaining remember remind repeat reply represent require requirement respect responsible rest result
		return reveal review rid right role rough roughly run
		safe safely same say scenario scratch see seek seem sense sensible separate serious set several sharp short
		shortly show side significant similar simple simply simultaneous since single situation slight slightly slow small
		solution solve somebody somehow sometimes somewhat somewhere soon sorry sort speak special specific specify spend spite
		stage standard start step still stop strange strategy strict strong struggle stuff
		subsequent succeed success successful such sudden sufficient suggest suggestion suit suitable summary suppose sure
		surely surprise
		take talk task technique tend thank therefore thing think thorough though thought three through throughout tiny tip
		today together tomorrow too top topic total tough toward towards trick trouble true truly truth try twice
		two typical
		ultimate under understand understanding unique unless unlike unlikely until unusual up upon usage useful useless usual usually
		valuable variety various vary vast versus via view vital vs
		wait warn week weird well whatever whenever whereas wherever whether whichever while whoever whole wide will willing
		wish within wonder wonderful worry worse worst worth worthwhile write wrong
		year yesterday yet`)
})
