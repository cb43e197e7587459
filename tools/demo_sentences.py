"""What `build_demo_corpus.py` adds to the Universal Declaration: original sentences, word lists and bad rows."""

BREAK_WORDS = {
    "tha": ("มนุษย์", "สิทธิ", "เสรีภาพ", "และ", "บุคคล", "ทุกคน"),
    "lao": ("ມະນຸດ", "ສິດ", "ເສລີພາບ", "ແລະ", "ບຸກຄົນ", "ທຸກຄົນ"),
    "mya": ("လူတိုင်း", "နှင့်", "သည်"),
    "khm": ("មនុស្ស", "សិទ្ធិ", "សេរីភាព", "និង", "បុគ្គល"),
    "bod": ("རང་དབང་", "ཐོབ་ཐང་", "མི་རིགས་"),
}
"""UDHR code -> words after which a zero-width space marks a word break. Javanese has its own in the source."""

SENTENCES = (
    ("en", "The ferry was late, so we shared the last mango 🥭 and waved at every boat 🚢."),
    ("en", "Our family chat 👨‍👩‍👧‍👦 is mostly pictures of the dog 🐕‍🦺 and the astronaut costume 👩🏽‍🚀."),
    ("en", "Press 1️⃣ for tea, 2️⃣ for coffee, #️⃣ to hear this again and *️⃣ to give up."),
    ("en", "Three flags on the hill today: 🇰🇪 🇧🇷 🇯🇵, and 🏴󠁧󠁢󠁳󠁣󠁴󠁿 on the boat."),
    ("en", "Copyright © and trademark ™ stay text, but ©️ and ™️ ask to be drawn."),
    ("en", "Waving in every shade: 👋🏻 👋🏼 👋🏽 👋🏾 👋🏿, then a plain 👋."),
    ("fr", "Le marché ouvre à sept heures ⏰ ; les figues 🍇 partent vite."),
    ("es", "¡Mañana hay fiesta 🎉 en la plaza! Trae guitarra 🎸 y muchas ganas."),
    ("de", "Der Zug hat Verspätung 🚆💤, aber die Brezel 🥨 ist noch warm."),
    ("ru", "Кот 🐈‍⬛ спит на клавиатуре, поэтому письмо короткое 💌."),
    ("el", "Η θάλασσα σήμερα είναι ήρεμη 🌊 και ο καφές κρύος 🧊."),
    ("ar", "القمر جميل الليلة 🌙 والشاي ساخن ☕."),
    ("he", "הרכבת מאחרת 🚉 אבל הספר טוב 📚."),
    ("hi", "आज बारिश है 🌧️ और चाय तैयार है ☕।"),
    ("bn", "নদীর ধারে মেলা বসেছে 🎡, সবাই এসো।"),
    ("ta", "இன்று மாலை கடற்கரையில் சந்திப்போம் 🏖️."),
    ("th", "วันนี้\u200bอากาศ\u200bดี ☀️ ไป\u200bเดิน\u200bเล่น\u200bกัน"),
    ("km", "ថ្ងៃនេះ\u200bខ្ញុំ\u200bញ៉ាំ\u200bបាយ 🍚"),
    ("ja", "明日はカレー🍛を作ります。にんじん🥕を買ってきて!"),
    ("zh", "今天下雨☔,我们在家看电影🎬。"),
    ("ko", "오늘 저녁에 라면 🍜 먹을까요? 漢字도 조금 씁니다."),
    ("ka", "დილა მშვიდობისა ☀️, ყავა მზადაა ☕."),
    ("am", "ዛሬ ቡና ☕ አብረን እንጠጣ።"),
    ("en", "❤️‍🔥 and 🏳️‍🌈 are one sign each; ❤︎ asks for text, and 🏃🏿‍♀️‍➡️ runs to the right."),
    ("en", "Mixed in one line: Привет, 世界, γειά σου, नमस्ते, مرحبا, שלום 🌍."),
    ("ko", "The compatibility ideograph \uf900 (U+F900) is also our opening marker, so it travels escaped."),
    ("und", "🎈🎈🎈"),
    ("und", "12:30 — 14:45 … 100 %"),
    ("en", ""),
)
"""(language, text), written for this corpus; CC0-1.0. Emoji of every kind, and texts with few or no letters."""

BAD_LINES = (
    '{"id": "bad:broken-json", "text": "this line stops in the mid',
    '{"id": "bad:no-text", "lang": "en", "license": "CC0-1.0"}',
    '{"id": "bad:null-text", "text": null, "lang": "en", "license": "CC0-1.0"}',
    '{"id": "bad:number-for-text", "text": 42, "lang": "en", "license": "CC0-1.0"}',
    '{"id": "bad:lone-surrogate", "text": "half of a pair: \\ud83d", "lang": "en", "license": "CC0-1.0"}',
)
"""Rows that cannot be used, one for each common cause, so that the demo has rejects to show."""
