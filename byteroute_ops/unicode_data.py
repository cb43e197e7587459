"""Unicode 18.0.0 properties as compressed runs. GENERATED: edit tools/generate_unicode_data.py.

Sources, all of Unicode 18.0.0:
    Script                   Scripts.txt 18.0.0 of 2026-06-29, from fontTools 4.68.0
    Script_Extensions        ScriptExtensions.txt 18.0.0 of 2026-08-06, from fontTools 4.68.0
    Grapheme_Cluster_Break   GraphemeBreakProperty.txt 18.0.0 of 2026-06-29
    Indic_Conjunct_Break     DerivedCoreProperties.txt 18.0.0 of 2026-08-07
    Emoji properties         emoji-data.txt 18.0.0 of 2026-01-30
    (the last three as they are in the source distribution of the PyPI package graphemeu 0.11.0)
Unicode data files: Copyright 1991-2026 Unicode, Inc., Unicode License V3, https://www.unicode.org/license.txt

Every *_RUNS value is base85 of zlib of: uint32 count n, n lengths of runs (uint32, little-endian), n values (uint8).
`byteroute_ops.unicode_tables` expands them.
"""

UNICODE_VERSION = "18.0.0"

# ISO 15924 codes; the index is the script id.
SCRIPTS: tuple[str, ...] = tuple(
(
    'Adlm Aghb Ahom Arab Armi Armn Avst Bali Bamu Bass Batk Beng Berf Bhks Bopo Brah Brai Bugi Buhd Cakm Cans Cari '
    'Cham Cher Chrs Copt Cpmn Cprt Cyrl Deva Diak Dogr Dsrt Dupl Egyp Elba Elym Ethi Gara Geor Glag Gong Gonm Goth '
    'Gran Grek Gujr Gukh Guru Hang Hani Hano Hatr Hebr Hira Hluw Hmng Hmnp Hung Ital Java Jurc Kali Kana Kawi Khar '
    'Khmr Khoj Kits Knda Krai Kthi Lana Laoo Latn Lepc Limb Lina Linb Lisu Lyci Lydi Mahj Maka Mand Mani Marc Medf '
    'Mend Merc Mero Mlym Modi Mong Mroo Mtei Mult Mymr Nagm Nand Narb Nbat Newa Nkoo Nshu Ogam Olck Onao Orkh Orya '
    'Osge Osma Ougr Palm Pauc Pcun Perm Phag Phli Phlp Phnx Plrd Prti Rjng Rohg Runr Samr Sarb Saur Seal Sgnw Shaw '
    'Shrd Sidd Sidt Sind Sinh Sogd Sogo Sora Soyo Sund Sunu Sylo Syrc Tagb Takr Tale Talu Taml Tang Tavt Tayo Telu '
    'Tfng Tglg Thaa Thai Tibt Tirh Tnsa Todr Tols Toto Tutg Ugar Vaii Vith Wara Wcho Xpeo Xsux Yezi Yiii Zanb Zinh '
    'Zyyy Zzzz Emoji Jpan Kore Hanb '
    ).split()
)
N_SCRIPT_VALUES = 178  # ids below are Script property values
ZYYY = 176
ZINH = 175
ZZZZ = 177
EMOJI = 178
JPAN = 179
KORE = 180
HANB = 181

# Script_Extensions sets, codes joined by +; value v of SCX_RUNS is SCX_SETS[v - 1], 0 is none stated.
SCX_SETS: tuple[str, ...] = tuple(
(
    'Adlm+Arab Adlm+Arab+Gara+Nkoo+Rohg+Syrc+Thaa+Yezi Adlm+Arab+Hung Adlm+Arab+Mand+Mani+Ougr+Phlp+Rohg+Sogd+Syrc '
    'Aghb+Cher+Copt+Cyrl+Goth+Grek+Latn+Osge+Syrc+Tfng+Todr Aghb+Cher+Goth+Latn+Sunu+Syrc+Thai Aghb+Latn+Todr '
    'Arab+Copt Arab+Gara+Nkoo+Rohg+Syrc+Thaa+Yezi Arab+Nkoo Arab+Rohg Arab+Syrc Arab+Syrc+Thaa Arab+Thaa '
    'Arab+Thaa+Yezi Armn+Cyrl+Dupl+Goth+Grek+Hebr+Latn+Perm+Syrc+Tale+Tfng Armn+Geor+Glag '
    'Avst+Cari+Copt+Dupl+Elba+Geor+Glag+Gong+Goth+Grek+Hani+Latn+Lydi+Mahj+Perm+Shaw '
    'Avst+Cari+Geor+Hung+Kthi+Lydi+Samr Avst+Orkh Beng Beng+Cakm+Sylo Beng+Cyrl+Deva+Latn+Lisu+Thai+Toto Beng+Deva '
    'Beng+Deva+Dogr+Gong+Gonm+Gran+Gujr+Gukh+Guru+Knda+Limb+Mahj+Mlym+Nand+Onao+Orya+Sind+Sinh+Sylo+Takr+Taml+Telu+Tirh '
    'Beng+Deva+Dogr+Gong+Gonm+Gran+Gujr+Guru+Knda+Mahj+Mlym+Nand+Onao+Orya+Sind+Sinh+Sylo+Takr+Taml+Telu+Tirh '
    'Beng+Deva+Gran+Gujr+Guru+Knda+Latn+Mlym+Nand+Newa+Orya+Shrd+Taml+Telu+Tirh '
    'Beng+Deva+Gran+Gujr+Guru+Knda+Latn+Mlym+Newa+Orya+Taml+Telu+Tirh Beng+Deva+Gran+Knda '
    'Beng+Deva+Gran+Knda+Mlym+Nand+Orya+Sinh+Telu+Tirh+Tutg Beng+Deva+Newa+Shrd Beng+Deva+Newa+Telu '
    'Beng+Deva+Newa+Telu+Tirh Beng+Deva+Shrd Beng+Deva+Telu Beng+Deva+Tutg Bopo+Hang+Hani+Hira+Kana '
    'Bopo+Hang+Hani+Hira+Kana+Lisu+Mong+Tibt+Yiii Bopo+Hang+Hani+Hira+Kana+Mong+Phag+Yiii '
    'Bopo+Hang+Hani+Hira+Kana+Mong+Tibt+Yiii Bopo+Hang+Hani+Hira+Kana+Mong+Yiii Bopo+Hang+Hani+Hira+Kana+Yiii '
    'Bopo+Hani Bopo+Latn Bugi+Java Buhd+Hano+Tagb+Tglg Cakm+Mymr+Tale Cari+Geor+Glag+Hung+Lyci+Orkh '
    'Cari+Grek+Hung+Mero Cher+Copt+Cyrl+Grek+Latn+Perm+Sunu+Tale Cher+Cyrl+Grek+Latn+Osge+Sunu+Tale+Todr '
    'Cher+Cyrl+Latn+Osge Cher+Cyrl+Latn+Tfng Cher+Dupl+Kana+Latn+Syrc+Tfng Cher+Dupl+Latn+Syrc Cher+Latn+Syrc '
    'Cher+Latn+Tale Copt+Dupl+Hebr+Latn+Perm+Syrc+Tale+Tfng+Todr Copt+Elba+Glag+Goth+Kana+Latn Copt+Grek Copt+Latn '
    'Cpmn+Cprt+Linb Cprt+Lina+Linb Cprt+Linb Cyrl+Glag Cyrl+Grek+Latn+Perm+Tfng Cyrl+Latn Cyrl+Latn+Syrc '
    'Cyrl+Latn+Todr Cyrl+Perm Deva Deva+Dogr+Gujr+Guru+Khoj+Knda+Kthi+Mahj+Mlym+Modi+Nand+Shrd+Sind+Takr+Tirh+Tutg '
    'Deva+Dogr+Gujr+Guru+Khoj+Knda+Kthi+Mahj+Modi+Nand+Shrd+Sind+Takr+Tirh+Tutg '
    'Deva+Dogr+Gujr+Guru+Khoj+Kthi+Mahj+Modi+Shrd+Sind+Takr+Tirh '
    'Deva+Dogr+Gujr+Guru+Khoj+Kthi+Mahj+Modi+Sind+Takr+Tirh Deva+Dogr+Kthi+Mahj Deva+Gran Deva+Gran+Knda '
    'Deva+Gran+Knda+Tutg Deva+Gran+Latn Deva+Knda+Mlym+Orya+Taml+Telu Deva+Nand+Newa Deva+Newa Deva+Newa+Shrd '
    'Deva+Newa+Tirh Deva+Shrd Deva+Taml Dupl Dupl+Latn+Syrc Ethi+Latn Geor+Glag+Latn Glag+Latn+Sunu+Syrc+Thai '
    'Gran+Taml Grek Grek+Latn+Perm+Todr Gujr+Khoj Guru+Mult Hani Hani+Hira+Kana Hani+Latn Hani+Tang Hira+Kana '
    'Kali+Latn+Mymr Knda+Mlym+Taml+Telu Knda+Nand+Tutg Latn Latn+Lisu Latn+Mong+Phag Latn+Osge Latn+Sunu '
    'Latn+Sunu+Syrc Latn+Syrc Latn+Tfng Latn+Thai Mani+Ougr Mong+Phag Nand Pcun+Xsux Runr Syrc '
    ).split()
)

GRAPHEME_VALUES = ('Other', 'CR', 'LF', 'Control', 'Extend', 'ZWJ', 'Regional_Indicator', 'Prepend', 'SpacingMark', 'L', 'V', 'T', 'LV', 'LVT')
INCB_VALUES = ('None', 'Linker', 'Consonant', 'Extend')
EMOJI_PROPERTIES = ('Emoji', 'Emoji_Presentation', 'Emoji_Modifier', 'Emoji_Modifier_Base', 'Extended_Pictographic')

SCRIPT_RUNS = (
    'c-o~|TXa;_8P1t==8~B($s{2mlbIwU5XePHzyN{-1VMswk#bYyQc<j0q?KALUZ|~F6)cq&Td0;=q^PxX{<Zqzn|8H*_Q{8~53csz)u+C-'
    'tN%Xd+sT*RGfB1UTRVI9{ont6pZp=y(6FJQp`olLgL<hJPfIiEw3bf%?nV8v{^`e<DJd=OT25*SFvmx~ZF|mdkLGc^9rd`DqLvmdFJP~CF}4Wx'
    'D%7h%e>cuBzYCzvL)*iCd}bf&Jm#0teiZe5TC)~3n6=BajACpJ_1}cwmUk7j?cFR*^HFa@e^tva(B6zSW#U&3eYSL<KkM)@z<8rGKfoRy&GATf'
    'U33S_uV9ArQVBKRGwrPRY45C~2c}(u4D6gnM^5$5xAf<o`995QCR&=XN7k7?8-LyNT>koG3rYNK1&t}<FY_dDX!ht_-{GN;dj#0u-'
    '6xfx^K&tGj&pBo*DZ7}&)F|ad-{&N1LA)c>+7A7PvBv_v(gE7Vi`9joU`0%TODp8d*bm{{GR9NoV{Pxp&{eQCWpQ}$;Z%j3+cD9|Ah&1wSH-'
    'y)89$=_Z%DX=&S&~>kjlUKwm$#*@tI|kA|Kr<U^SrGd@UnHb1sHa>zQg+5RO?`-'
    'cB<T{HP`?%#;I54^Q8YA^aTsL!Ng|LMb@`tY+^*s+!CT++MtIyz*1#39nT4ArimYe)Y9oHqzwZpIoLFRi^cIq}i7dr0Pn?jg)6QylY&7ZsvooZ'
    '?3cbD7>E`Zs{jcVWJXUF)^1fF1{kr9S5Q6z6Qr8YDf>p;*4nN$~BN1Yewn-dTMcA)m?qX*25e(7_Hz=8K$mE+Mbr(u;XFJ9bf|eN4N}iGz(KKh'
    'wXD;<!gVw?4E5_EmuXH<O+D&RN~4ORyaqzb~cY`xc<HS3u0ERJ{HbEk~dWr@*)D4EDT={A!W>Oe5Lkm#zEARs!gz^|J@Sw@=YG*O5sVXb4D#0q'
    'M`)gcxi3?{Q+T^;d^T4t?N9BlY!?PW2++vbpYlE!VYt)CHZpyP@G+5TCIU`xsjo@?x7mf;Bnhau0%@-'
    '9&#8@*l>SwaHajw;6R4`umVSdgQ|kWZ!0w?KGYz-r2iZT8rerI9_Z-'
    '%&|E=`!%kUbYsx5iNKN1PRf7nzE=n1`*mWzvG+g?<AfK_dl+)cf)6%_Dm!}Y)yX@}IiF*%^SGn6L)Qo1NH*?~uGuqQa(sKA^DZh-'
    '4l+!9_v`SGb2jE>o^qfj^p_plICr&nYxL|i<wgPNmXXO0^2OFxmST?i{XFT>2>C$!W?F!KeDtL$p7l6-'
    '8Gxn%$bA{bG0XP_w6CcbL*G}BUKbMb6u$pV<39E>JY4C;w0GeA9Q54!+5xi3^&}sAry*xwrlEuMz7I0bkxyWmS^cfhK4sFeGW5L<^aaQvQm~!C'
    '*(>MdCsm>`aPsaf_O+#-at<>-M!MKRKDUj|YNZ%%-%3WlTj5)lL%)_|EJJd&a$kgVs`Re<gnZP16Ax3c*NpSFZ=t;hK(pmv1$?t{Y`dew9(-'
    'M%_}NAFm!Vvs6=(Eg?GeiD3K+Mxw60Db%Q|Xvur=Uop57u~^sVWU?zyqhednbq&Sxn;vfuI?y<g<K&D`<88BY=YM!pB>>>j*FtS(%G&e?p;_^;'
    'cEo(y!U4R0pSTiYSyZh9jGkoSl97IO^owu$(ca_Hpy^f+%<YZrNn#VLwm1)Oj1v>Wuc;H{FyoIM!dPv4936h}Ss!FJ60;XX$Pim)|T7lxegWGT'
    '`Mw!MrqzR+oB92*!SKVp62=VU7-'
    'tXo1hy@&LDlyde<ew+tw@?zc^eq4neG%BI@WA5G{KJRjKtT$Wq&=1S84*W@pSe=T`?oG&Zc2Hl2VorwSm?wSB(%UZ$T?;*&rR84qcae`6!aFh`'
    'IhPPOyoC5<{jX7$zj#w`Z<GHY*77*+{kk8^*Z9tA&y;Ot6YQ?no04~$^r-'
    '6Cev$0{tab!C@ez7U`4k&C7c}Ld^8a6$^E)r*VJG?K9PYq2Vg2nX*x*00Z$HM@VQq=*DGNCTaauhoqXK=8SVwPiTkpeJUC7O>-'
    'fc<v=IDOw^vEx`-%vI<`D@M@uQ<Lh?R;ak^Y(bihme07TR5AF?IKM!vJ-OqyC3IZMeH#~@7MzETXMdaa6CwZSN7Y=Ny-'
    '5^=eKuT@5Odhf{(Ryed5J2^;6_{_O2h1-'
    'F1)*KO=gAgdEk>f23G${KcK*TP!^#C3F+UZq@R8+OIpo4pPp0r{4b%GBb>M3Ey~<_Mfe|>s<Q{>d=rUx$<|-H1)5rdA>L0laE1%o1O1u&E(t7-'
    'ZkWAWuk2k`SwQV{cm`6Nz0#o$OJT5fALr6TUCX=4{@xqxmgdz(}2!tgkRY2#q)|pn@@IZWz*`sU+jDE0{V}ewjS`=HRR!?xc{||c;As~%$pP1c'
    'v}ze(fV(?!M3(|p8++R7cZ+#C}TeM^OHG&$@k7^`G?Wnf2SJ42?xcnHXIHMiur5MHC(AxB(1nPf*($zrU?D>qVRt%$L095@~nJCabA2guUe~y)'
    'q>Q=vRQD`4EXvC_{l8zSv}k?^>FVr{Gblrl<-'
    'a2nuxci5WXcx`z1oyKeA9}N2j9wYw}F^j9iw>%R_0EA4Rw=!hNAa4BF*Riwkl=ejMYrl9cWci<)F5doC~eZK8O%V(2(0wQveDF<hA#R_Nc_1Qe'
    'kz%z|)2A|2ArRduXJNrV<Hizm9IE57q3ga5u_#mpUz5RMwuM)a?YDPd#bcsMRa84=Y{3CFb_F<oZX2l9dJxF(fcbiOElsQY|N&M2zu!gZ(R^oX'
    'pLaILI8DjhM7z9DZMrlWP?uvy%BSPttU28N7@Nu7_N3N5}~wN{Dmr7csNdm36s#3CNvJ`GWyvMOSi?3B5BEm<RL2IZ8zBk#N??@8bH9+Su9gyK'
    'f=#QU{O$1mls2+<v-dkTRB-'
    '*`YCkQD|`%9Fcf*Nbw`0a0v_>3Hs#>``PS^OQXGggo(WF?dvNF?d>@mPHYK`Ar0KL;n?dSx(A4Ss={@TV#v8s%TT(E#Ft2->5h;iI)^Z(@-'
    '07I<6+-LB%f=FDMQw?vvLQM<o@ZSFX$T9+{5&Bm7p*O8YmZs>Hmem;>yMFfa{E2yZJ2vRl?i*kSy_`=WUKeJRU)#Y$N!IXPr-MXpGrV$~!z%RX'
    'sRd?&)ihekK4!d%=Wn=Z;lxm7V9V@#nsJQlSck{c{w8WC#7Xbh$d5JvSy@w^y>v5pK+EEbE3Vm0t9c~|jOc|`Hk2-XhvD;gqL{r-'
    'R9&^Pua?j%!wVG7>`<NgExL-%$'
)
SCX_RUNS = (
    'c-pO0NmCO+6#hCh10-Y!ZV1Q{(7_lt6a>Tt;=-'
    'tiqG$x%FlgLk1OyJ8`~{Y&^2`sgtkMe?uU_;&_!q45V0rXS`gKjGg@aXA*Ozblt^HoVPKN;201&~BNRIJ7fTev$weJ93#{PdGVeG3nu&ZZ|FmG'
    'mdR4oLTIk0g>=&O7L%U<)o4u9Ju5%#2(IY1T5XPH+bq3<RwPGGyZ0hib&$GLy9eB6@!k@Y_uc@I9H>ziH!;j8`ceU2D0gjSOY+t^#0?-%~=Gi-'
    'XfAML1|DdqQ8&5$d((dgNFdEblh-o-k1rPrm`Qp2%g+C1p9A~bn`Dc-'
    'BupVsV3JbOu=fAuE12`Rz=;SkSpoY2GiNkS8!A;>$!y(!K~{Tn`KO31vHQP-ML^C0sob74Z-e=>TgW~N!lyh^^G<ufA8W3$}ix>iZpLj0?m-'
    '$za58TvU!DPDQj6-VkE*2j6if4`GCJ~zns`n^r+Ke&lNupRqoJ;faT9_~4E%Q<#xu>R##@6p0E3TJT_ef>qeC}N-rcW6DQ|Ar?xj*-'
    'mi3_ZChqAo?VDO-Y2iybX!Zn}sD+@oec!fiapLEOX=4q$;+tKWLb@7Q@QnZ4p?{cPiP|7z!i-|n}KUEVhKisGNaGM-'
    'UA-E^PhIDxHO=n^et@Bn*ud-P~iU1@k}4}0O|;bAt1Jgsz|R5>!rRjdr|<J|et3!~VD8+b^4j!{qQ$S+-XJ2{LY4AThA(@E7@EU(FOfIr;SPEG'
)
GRAPHEME_RUNS = (
    'c-'
    'rk*y>A^w5Wn4f@7=x+lV@{I0><Vr!7@&aoajsf!4jcBAW<X%q(}r|AyR;ZlqMjhKs1zeAR!?T4HX@K0S#Xj4K&aIqN9mK35wX+{mr|1<2|sD=u'
    'WG7b2mFXU%NZ|cJ8?%%SKt284nhC$-_$??(?t!+GXE)-Qzp`iyx8|9&e-1sPT+*4-'
    'b17WKqXh@IK^W*~1j?*Rm*=`v;K2vU;#b>Ra=$;^76ze$>MdK>f!t&Ino#-'
    '1l%2?=|%F!MBC6#8&|?dU!zTXL(NOVS5YE*@qJEGFFSA8|8Zrc{UN>o{%ZyGZb;MY7D_dV57#KQ@XXDT*Pfn&<x^kMU1pRR>a#XJ$=O^pG!P1i'
    '}mntv1`+1Rcv(Z`hd3B@gCr{dOk5PGDf+YlTAgR3frfNxbzf%F8q{xi{Dp;9p_s1q~4bt50=66cm#bD;XlQCBO$BJP9xU(C}HE1LcdY#$*4J9L'
    'jPW(e*!%(tG*%pA)co(ekHMY<(fF{;SRALjK~R`w@!#TeFXVK#$k|%y%qB;b6QWu&B9)u|AmAsDW7d6-'
    '}gN{<>88l7fqD$c^>851DUIku_p3Boyb?LYpCK$cw5cW4e+kx{SB47bRHXk_ERFa@3zdpj)4>B36J0LZ~<$#r_PT7&W(|>#UU0$vDP`i8RdhV%'
    'Q0x1iT!WH`q_aFc?NtS_!fkpdi}_A^eYdKlU{o;7RNFEG}hNXe7!x6dfo-^KF+Z%8+E*j@!#KQbdSJ8^ozh#b1+{JK9-n2!q0+sM&z}-'
    'v4`2;4aDRw^?zW3HJYn4n%__S!x>2Qd&R!xH9G=rOYJ?Y&O&)EFNr*#C-yYku#-'
    '45ZQ|@%6Mjk_?*A6K$tC_j>GOXHc%{P~?r?`Y+~E#)xWgUpaEJd#Ji)!Mhx_LG{ju*C8}CaD-(k$h;w~BPS-8LcivIU;4|-'
    '=Xf5)_<7N_e=tE#R*v`@J{WFzeY#_yS?-'
    'qFY1c8c257(NjHO?AiGMIGTmb!Qt1JGNDABXt+%n)(@Wf9)sgL`T$J@1&}~aeX6KH5nZ%Nxv%Y&3s?hwS|vV{d!sWaW--HG>51?j|9CCHQup^h'
    'rZWtsQd1qg)eWZtI2v8(Jl+0bY12c@TEiOlQ#XHs6F%)&q|AaDetwGde*g;IzQJyGBZE_)c>Wb2U}IYGvXUYU&SqNsf8NUjP%;p`*20f_oj+rP'
    'uSs9EiM=Qy1scG`1zJOC-_>`2Blt#`_V-GP{!w`s6m><_Zp@>k@z;D*V`5OZkkvP6)*d_F7|7#)-bQjAIhfoG(c|n=2XlDyq~`qMj7W}^C>(3-'
    'QYLV=sqjzi<i{*n$Mn@&skTO;x{=9dwzybj|rOxs-{^WztZ^kz%y3s--'
    '_>O^!!#4?dl;nI#tg;Dq>ImU+gz?vncfH?>(>J`4jZNi8$;**Iy>$+ZgvpV*X`q?niv*d>wrsx>(En(_l|dCc!7Ft-kHy7M(BT#4VfUHaB@jt)'
    '6Rz2ha*ZI@kiWs9jdouFhQTN|)7@CwlNiG|xl5nJYsN`iX<aNP%*U3-'
    '57EeJF9n4uP(ovC>aDuhK<oXfB9uWEN~mBn3N!p>y^+u*6n{x6=Q3)&8dr=6W0kk^13iEJjnzsFmS0=Maz=K`i+Yp30dm90wW|{i&jaDr$F_hP'
    'oLs4JhyJrY3sMnHU`5p??}S3TbvJP%~9>!Vq5e%*C0j5NppnS?F5Vx|VMK9|~uNyve;GEoC+Du(D;#Vk3qvS;VAV#k5knO7)5K5EFz`nbRSaRl'
    'Ls|@nunS_T)^(DMzH8hT>QS`dDZcw0Uu^a7go{molZBlAC0GRgep_tj26oe>{6KPU#`V`j^6m^h*X)C`BstQ69})tVNtf`u&e>5LEe={SBhw{T'
    'T'
)
EMOJI_RUNS = (
    'c-nnbyKdA#6rG2?yIz)EI}QkA2?Pj18HplMq$mXv1tk?wQ_(=dZ}0<r0DnOZ9W6rX^B0J@<8!lTuWV~HzH{G?Ipbg6xhKxKMBD<jOnaU7C-'
    '4R6*M|e$fd2z}7xX=1?9vY6?+2>(-$6UXjNk+15!p}h*U+uOSD@#R2dcL+v4XKFjNTi4Br38M&L!DvF6rl%@wc&$W@KCs`$m(8Yb-'
    '!DZ#gmpKeLZbY+JjZ=%tvM>s0T&7iPZ7ui>+s$mb0vl-'
    'K@GAlG}}8u|s;`|St27Je^Gp1;K*rr(9b{2zb#OrOE$18jGu{w?`DMSq{&9{+)C6w`7ir)l3eJ>MqGACpgMW?7*BCB>KdeoOli`BgNhSD;I(+r'
    '9(k9}_=@0euV2%>C;dx*Wlp;`t8lCyv~Cq*`^~1ARlXOTtD$c1zPA>o-Qm7!0@vi|-'
    'Z9RNqoWtVsWjFoNT`_wX7rotNNS|I4+(dTHK!q?{%7voLQbjQn#e$gbeCp;~*K&(PNzF`t8fK=>{QgB9M(W@L6N>bWAE+q*siy%@ot2j(KZ7s2'
    'XV#NX2WiOowh2hDXv{*nGKGDBhhMTxVMv#iFfcK9}FvAiX9H{rB5ZOLoc`Fo>wL--DI*Yw?JycUb2G&eG}sj*u5s6ic5zIw22vW=*vgxp(?0O^'
    'ocH`J50OVRhOUAYA0?V3J&cL_{w<0h84Ie4cI#X09sM6|i0eet^X8Pm}nlrS`r4mDOU4*vl$(k^x'
)
